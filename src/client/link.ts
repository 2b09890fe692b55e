// One connection to a daemon, from its opening to its end: requests and their replies, frames and who wants them.
import type { Reply } from "../protocol/envelope.ts";
import { TrlError } from "../protocol/errors.ts";
import type { Carrier, OpenCarrier } from "./carriers/carrier.ts";
import { ConnectionError } from "./errors.ts";

/** A frame of a stream or of a terminal. */
export interface Frame {
  type: string;
  stream_id?: string;
  session_id?: string;
  [field: string]: unknown;
}

/** A daemon that is asked something is heard within this time, or it is not there any more. */
const silenceMaxMs = 45_000;
/** After so much silence it is asked. */
const askAfterMs = 15_000;

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  /** Told of the reply's data before any frame that comes behind it. */
  received?(data: unknown): void;
}

interface Waiting {
  resolve(data: unknown): void;
  reject(error: Error): void;
}

export class Link {
  readonly #waiting = new Map<string, Waiting>();
  readonly #listeners = new Map<string, (frame: Frame) => void>();
  #carrier!: Carrier;
  #nextId = 1;
  #lastHeard = performance.now();
  #watch: ReturnType<typeof setInterval> | undefined;
  #isOver = false;

  private constructor(readonly onLost: (error: Error) => void) {}

  static async open(open: OpenCarrier, onLost: (error: Error) => void): Promise<Link> {
    const link = new Link(onLost);
    link.#carrier = await open({
      message: (frame) => link.#receive(frame),
      closed: (error) => link.#lose(error),
    });
    link.#watch = setInterval(() => link.#listen(), askAfterMs / 3);
    (link.#watch as { unref?: () => void }).unref?.(); // whoever waits for an answer has the carrier
    return link;
  }

  /** Rejects with the daemon's error, or with a ConnectionError where the connection is lost before the reply. */
  request(method: string, params: unknown, { signal, received }: RequestOptions = {}): Promise<unknown> {
    if (this.#isOver) return Promise.reject(new ConnectionError("the connection is closed", false));
    const id = String(this.#nextId++);
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#waiting.delete(id);
        reject(signal!.reason);
      };
      signal?.addEventListener("abort", abort, { once: true });
      const settled = () => signal?.removeEventListener("abort", abort);
      this.#waiting.set(id, {
        resolve: (data) => {
          settled();
          received?.(data);
          resolve(data);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
      this.#carrier.send(JSON.stringify({ id, method, params }));
    });
  }

  /** The frames of a stream or a terminal, by its id. */
  listen(id: string, listener: (frame: Frame) => void): void {
    this.#listeners.set(id, listener);
  }

  unlisten(id: string): void {
    this.#listeners.delete(id);
  }

  async close(): Promise<void> {
    this.#end(new ConnectionError("the client was closed", true));
    await this.#carrier.close();
  }

  #receive(text: string): void {
    this.#lastHeard = performance.now();
    const frame = JSON.parse(text) as Reply | Frame;
    if ("ok" in frame) this.#takeReply(frame as Reply);
    else this.#listeners.get(frame.stream_id ?? frame.session_id ?? "")?.(frame);
  }

  #takeReply(reply: Reply): void {
    const id = String(reply.id);
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (reply.ok) waiting?.resolve(reply.data);
    else waiting?.reject(new TrlError(reply.error.code, reply.error.message, reply.error.data));
  }

  /** A machine that sleeps or a network that is gone closes nothing: it just says nothing any more. */
  #listen(): void {
    const silentMs = performance.now() - this.#lastHeard;
    const isAwaited = this.#waiting.size > 0 || this.#listeners.size > 0;
    if (!isAwaited || silentMs < askAfterMs) return;
    if (silentMs < silenceMaxMs) void this.request("system.ping", {}).catch(() => {});
    else {
      this.#lose(new Error(`nothing was heard for ${Math.round(silentMs / 1000)} s`));
      void this.#carrier.close();
    }
  }

  #lose(error: Error): void {
    if (this.#isOver) return;
    this.#end(new ConnectionError(`the connection was lost: ${error.message}`, true, { cause: error }));
    this.onLost(error);
  }

  #end(error: ConnectionError): void {
    this.#isOver = true;
    clearInterval(this.#watch);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#listeners.clear();
  }
}
