// The verbs' connection to a daemon: frames as they are, and a pause for those who cannot write them as fast.
import { newCommandId } from "../client/command-id.ts";
import { ConnectionError } from "../client/errors.ts";
import { type Frame, Link } from "../client/link.ts";
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

/** A frame of a terminal that was subscribed to. */
export type TerminalFrame = { session_id: string } & (
  | { type: "output"; data: string; offset: number; redraw?: true }
  | { type: "resize"; cols: number; rows: number }
  | { type: "gap"; from: number; to: number }
  | { type: "exit"; exit_code: number; signal: string | null; offset: number; error?: LostError }
);

const silenceMs = 2500;
const pingMs = 500;

export class DaemonClient implements Disposable {
  #link!: Link;
  #carrier!: BunCarrier;
  #listeners = new Map<string, (frame: Frame) => void>();
  /** Until the first answer: a daemon that is stopped or stuck takes connections all the same. */
  #silence: ReturnType<typeof setTimeout> | undefined;
  /** The connection is gone. */
  onClose: ((error: Error) => void) | undefined;

  private constructor(readonly socketPath: string) {}

  /** Rejects with a NoDaemonError where nobody listens. */
  static async connect(socketPath: string): Promise<DaemonClient> {
    const client = new DaemonClient(socketPath);
    await client.#open();
    if (!asksForJson(process.argv.slice(2))) {
      const tell = () => note(`the daemon on ${socketPath} does not answer; waiting for it (^C leaves)`);
      client.#silence = setTimeout(() => {
        // It may be at work for us, such as in a place that must be given the executable first.
        client.#silence = setTimeout(tell, pingMs);
        client.call("system.ping", {}).catch(() => {});
      }, silenceMs);
    }
    return client;
  }

  /**
   * After its loss. An upgraded daemon listens all the time and has everything that the one before it had; where nobody
   * listens, it is gone, and this rejects.
   */
  async reopen(): Promise<void> {
    this.#listeners = new Map();
    await this.#open();
  }

  async #open(): Promise<void> {
    this.#link = await Link.open(
      async (events) => {
        this.#carrier = await bunCarrier(this.socketPath, events);
        return this.#carrier;
      },
      (_, error) => this.onClose?.(error),
    );
  }

  /** Rejects with a TrlError where the daemon answers with an error. */
  async call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    try {
      return (await this.#link.request(method, params)) as Result<M>;
    } catch (error) {
      throw error instanceof ConnectionError ? lostDaemon(error.message) : error;
    } finally {
      clearTimeout(this.#silence);
    }
  }

  /** Starts a stream; each of its frames goes to `onFrame`. */
  async stream(params: Params<"exec.stream">, onFrame: (frame: StreamFrame) => void): Promise<string> {
    const id = newCommandId();
    return (await this.#follow(id, "exec.stream", { ...params, command_id: id }, onFrame)).stream_id;
  }

  /** Follows a command that was started elsewhere. */
  attach(
    params: Params<"exec.attach">,
    onFrame: (frame: StreamFrame) => void,
  ): Promise<Result<"exec.attach">> {
    return this.#follow(params.stream_id, "exec.attach", params, onFrame);
  }

  /** Watches a terminal; its frames go to `onFrame` until its exit, which is the last. */
  async subscribe(params: Params<"pty.subscribe">, onFrame: (frame: TerminalFrame) => void): Promise<void> {
    await this.#follow(params.session_id, "pty.subscribe", params, onFrame);
  }

  /** Takes nothing from the daemon until `resume`: what comes must be put somewhere. */
  pause(): void {
    this.#link.isPaused = true;
    this.#carrier.pause();
  }

  resume(): void {
    this.#link.isPaused = false;
    this.#carrier.resume();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#silence);
    void this.#link.close();
  }

  /** The first frames may come in one piece with the reply. */
  async #follow<M extends MethodName, F>(
    id: string,
    method: M,
    params: Params<M>,
    onFrame: (frame: F) => void,
  ): Promise<Result<M>> {
    const listener = (frame: Frame) => onFrame(frame as F);
    const before = this.#listeners.get(id);
    if (before) this.#link.unlisten(id, before);
    this.#link.listen(id, listener);
    this.#listeners.set(id, listener);
    return await this.call(method, params);
  }
}
