// Connection of the CLI's verbs to a daemon: raw frames, and `pause` for verbs that cannot write them as fast.
import { newCommandId } from "../client/command-id.ts";
import { ConnectionError } from "../client/errors.ts";
import { decodeFrame, type Frame, Link } from "../client/link.ts";
import type { LostError } from "../protocol/exec.ts";
import type { MethodName, Params, Result } from "../protocol/methods.ts";
import { type BunCarrier, bunCarrier } from "./bun-carrier.ts";
import { lostDaemon } from "./errors.ts";
import { asksForJson } from "./json-errors.ts";
import { note } from "./ui/print.ts";

/** A frame of a stream: output, a gap, or its end. */
export interface StreamFrame extends Frame {
  stream_id: string;
  data?: string;
}

/** A frame of a subscribed terminal. */
export type TerminalFrame = { session_id: string } & (
  | { type: "output"; data: string; offset: number; redraw?: true }
  | { type: "resize"; cols: number; rows: number }
  | { type: "gap"; from: number; to: number }
  | { type: "exit"; exit_code: number; signal: string | null; offset: number; error?: LostError }
);

/** The first reply may take this long before the daemon gets a ping, and then `pingMs` before the user gets a note. */
const silenceMs = 2500;
const pingMs = 500;

export class DaemonClient implements Disposable {
  #link!: Link;
  #carrier!: BunCarrier;
  /** Runs until the first reply: a daemon that is stopped or stuck still accepts connections. */
  #silenceTimer: ReturnType<typeof setTimeout> | undefined;
  /** Called when the connection is lost; not when it is disposed. */
  readonly onClose = new Set<(error: Error) => void>();

  private constructor(readonly socketPath: string) {}

  /** Rejects with a NoDaemonError if no daemon is listening. */
  static async connect(socketPath: string): Promise<DaemonClient> {
    const client = new DaemonClient(socketPath);
    await client.#open();
    if (!asksForJson(process.argv.slice(2))) {
      const warn = () => note(`the daemon on ${socketPath} does not answer; waiting for it (^C leaves)`);
      client.#silenceTimer = setTimeout(() => {
        // It may be busy with the request, such as copying the executable to a runtime: then it answers a ping.
        client.#silenceTimer = setTimeout(warn, pingMs);
        client.call("system.ping", {}).catch(() => {});
      }, silenceMs);
    }
    return client;
  }

  /**
   * Connects again after a loss. An upgraded daemon listens without interruption and has all its sessions; if no daemon
   * is listening, this rejects.
   */
  async reopen(): Promise<void> {
    await this.#open();
  }

  async #open(): Promise<void> {
    this.#link = await Link.open({
      open: async (events) => {
        this.#carrier = await bunCarrier(this.socketPath, events);
        return this.#carrier;
      },
      decode: decodeFrame,
      onLost: (error) => {
        for (const listener of [...this.onClose]) listener(error);
      },
    });
  }

  /** Rejects with a TrlError if the daemon replies with an error. */
  async call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    try {
      return (await this.#link.request(method, params)) as Result<M>;
    } catch (error) {
      throw error instanceof ConnectionError ? lostDaemon(error.message) : error;
    } finally {
      clearTimeout(this.#silenceTimer);
    }
  }

  /** Starts a command and passes each frame of its stream to `onFrame`. */
  async stream(params: Params<"exec.stream">, onFrame: (frame: StreamFrame) => void): Promise<string> {
    const id = newCommandId();
    return (await this.#follow(id, "exec.stream", { ...params, command_id: id }, onFrame)).stream_id;
  }

  /** Attaches to a command that another client started. */
  attach(
    params: Params<"exec.attach">,
    onFrame: (frame: StreamFrame) => void,
  ): Promise<Result<"exec.attach">> {
    return this.#follow(params.stream_id, "exec.attach", params, onFrame);
  }

  /** Subscribes to a terminal. The last frame that goes to `onFrame` is its exit. */
  async subscribe(params: Params<"pty.subscribe">, onFrame: (frame: TerminalFrame) => void): Promise<void> {
    await this.#follow(params.session_id, "pty.subscribe", params, onFrame);
  }

  /** Reads nothing from the daemon until `resume`, so frames cause backpressure instead of filling memory. */
  pause(): void {
    this.#link.isPaused = true;
    this.#carrier.pause();
  }

  resume(): void {
    this.#link.isPaused = false;
    this.#carrier.resume();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#silenceTimer);
    void this.#link.close();
  }

  /** Listens before the request: the first frames may arrive in one piece with the reply. */
  async #follow<M extends MethodName, F>(
    id: string,
    method: M,
    params: Params<M>,
    onFrame: (frame: F) => void,
  ): Promise<Result<M>> {
    this.#link.listen(id, (frame) => onFrame(frame as F));
    return await this.call(method, params);
  }
}
