// A typed connection to a daemon over its Unix socket, derived from the method table.
import type { Reply } from "../protocol/envelope.ts";
import { TrlError } from "../protocol/errors.ts";
import type { LostError } from "../protocol/exec.ts";
import { encodeFrame, LineDecoder } from "../protocol/frame.ts";
import type { MethodName, Params, Result } from "../protocol/methods.ts";

/** Replies may hold two streams of output, each escaped; the daemon bounds them. */
const replyMaxBytes = 2 ** 31;

/** A frame of a stream: output, a gap, or its end. */
export interface StreamFrame {
  stream_id: string;
  type: string;
  data?: string;
  [field: string]: unknown;
}

/** A frame of a terminal that was subscribed to. */
export type TerminalFrame = { session_id: string } & (
  | { type: "output"; data: string; offset: number; redraw?: true }
  | { type: "resize"; cols: number; rows: number }
  | { type: "gap"; from: number; to: number }
  | { type: "exit"; exit_code: number; signal: string | null; offset: number; error?: LostError }
);

const decoder = new TextDecoder();

interface Waiting {
  resolve(data: unknown): void;
  reject(error: Error): void;
}

export class TrlClient implements Disposable {
  readonly #waiting = new Map<string, Waiting>();
  readonly #followers = new Map<string, (frame: StreamFrame) => void>();
  readonly #watchers = new Map<string, (frame: TerminalFrame) => void>();
  readonly #decoder = new LineDecoder(replyMaxBytes);
  #socket!: Bun.Socket;
  #unsent: Uint8Array[] = [];
  /** Where frames go whose stream nobody follows yet: they may come in one piece with the reply. */
  #stray: ((frame: StreamFrame) => void) | undefined;
  #nextId = 1;
  /** The connection is gone. */
  onClose: ((error: Error) => void) | undefined;

  private constructor() {}

  /** Rejects with the system's error where nobody listens. */
  static async connect(socketPath: string): Promise<TrlClient> {
    const client = new TrlClient();
    client.#socket = await Bun.connect({
      unix: socketPath,
      socket: {
        data: (_, chunk) => client.#receive(chunk),
        drain: () => client.#flush(),
        close: () => client.#fail(new Error("the daemon closed the connection")),
        error: (_, error) => client.#fail(error),
      },
    });
    return client;
  }

  /** Rejects with a TrlError where the daemon answers with an error. */
  call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    const id = String(this.#nextId++);
    const reply = new Promise<unknown>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#unsent.push(encodeFrame({ id, method, params }));
    this.#flush();
    return reply as Promise<Result<M>>;
  }

  /** Starts a stream; each of its frames goes to `onFrame`, the first one not before this resolves. */
  async stream(params: Params<"exec.stream">, onFrame: (frame: StreamFrame) => void): Promise<string> {
    const early: StreamFrame[] = [];
    this.#stray = (frame) => early.push(frame);
    const { stream_id } = await this.call("exec.stream", params);
    this.#stray = undefined;
    this.#followers.set(stream_id, onFrame);
    for (const frame of early) if (frame.stream_id === stream_id) onFrame(frame);
    return stream_id;
  }

  /** Watches a terminal; its frames go to `onFrame` until its exit, which is the last. */
  async subscribe(params: Params<"pty.subscribe">, onFrame: (frame: TerminalFrame) => void): Promise<void> {
    this.#watchers.set(params.session_id, onFrame); // the first may come in one piece with the reply
    try {
      await this.call("pty.subscribe", params);
    } catch (error) {
      this.#watchers.delete(params.session_id);
      throw error;
    }
  }

  /** Takes nothing from the daemon until `resume`: what comes must be put somewhere. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  [Symbol.dispose](): void {
    this.#socket.end();
  }

  #flush(): void {
    for (let frame = this.#unsent[0]; frame !== undefined; frame = this.#unsent[0]) {
      const written = Math.max(0, this.#socket.write(frame));
      if (written < frame.length) {
        this.#unsent[0] = frame.subarray(written);
        return;
      }
      this.#unsent.shift();
    }
  }

  #receive(chunk: Uint8Array): void {
    for (const line of this.#decoder.push(chunk)) {
      if (line.kind === "too-long") continue;
      const frame = JSON.parse(decoder.decode(line.bytes)) as Reply | StreamFrame | TerminalFrame;
      if ("stream_id" in frame) this.#takeStreamFrame(frame as StreamFrame);
      else if ("session_id" in frame) this.#takeTerminalFrame(frame);
      else this.#takeReply(frame);
    }
  }

  #takeStreamFrame(frame: StreamFrame): void {
    const follower = this.#followers.get(frame.stream_id) ?? this.#stray;
    if (frame.type === "exit" || frame.type === "lagged") this.#followers.delete(frame.stream_id);
    follower?.(frame);
  }

  #takeTerminalFrame(frame: TerminalFrame): void {
    const watcher = this.#watchers.get(frame.session_id);
    if (frame.type === "exit") this.#watchers.delete(frame.session_id);
    watcher?.(frame);
  }

  #takeReply(reply: Reply): void {
    const waiting = this.#waiting.get(String(reply.id));
    this.#waiting.delete(String(reply.id));
    if (reply.ok) waiting?.resolve(reply.data);
    else waiting?.reject(new TrlError(reply.error.code, reply.error.message, reply.error.data));
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.onClose?.(error);
  }
}
