// One connection to a daemon, from its opening to its end: requests and their replies, frames and who wants them.
import { type Reply, unknownId } from "../protocol/envelope.ts";
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

type Listener = (frame: Frame) => void;

/** Silence is counted in these; a program that was stopped or busy for an hour has been deaf for one. */
const tickMs = 5000;
/** After so much silence the daemon is asked. */
const askAfterTicks = 3;
/** It would have answered by then: it is not there any more. */
const silenceMaxTicks = 9;

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  /** Told of the reply's data before any frame that comes behind it. */
  received?(data: unknown): void;
}

interface Waiting {
  /** Of the request, as it went over the wire. */
  bytes: number;
  resolve(data: unknown): void;
  reject(error: Error): void;
}

export class Link {
  readonly #waiting = new Map<string, Waiting>();
  readonly #listeners = new Map<string, Listener>();
  #carrier: Carrier | undefined;
  #nextId = 1;
  #silentTicks = 0;
  /** Nothing is taken from the carrier just now: the silence is ours. */
  isPaused = false;
  #watch: ReturnType<typeof setInterval> | undefined;
  /** Why it carries nothing any more. */
  #end: ConnectionError | undefined;

  private constructor(readonly onLost: (link: Link, error: Error) => void) {}

  static async open(open: OpenCarrier, onLost: (link: Link, error: Error) => void): Promise<Link> {
    const link = new Link(onLost);
    link.#carrier = await open({
      message: (frame) => link.#receive(frame),
      closed: (error) => link.#lose(error),
    });
    if (link.#end) {
      await link.#carrier.close();
      throw link.#end;
    }
    link.#watch = setInterval(() => link.#listen(), tickMs);
    (link.#watch as { unref?: () => void }).unref?.(); // whoever waits for an answer has the carrier
    return link;
  }

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** Rejects with the daemon's error, or with a ConnectionError where the connection is lost before the reply. */
  async request(
    method: string,
    params: unknown,
    { signal, received }: RequestOptions = {},
  ): Promise<unknown> {
    if (this.#end) throw new ConnectionError("the connection is closed", false);
    signal?.throwIfAborted();
    const id = String(this.#nextId++);
    const frame = JSON.stringify({ id, method, params });
    let abort = () => {};
    try {
      return await new Promise((resolve, reject) => {
        abort = () => reject(signal!.reason);
        signal?.addEventListener("abort", abort);
        const answered = (data: unknown) => {
          received?.(data);
          resolve(data);
        };
        this.#waiting.set(id, { bytes: byteLength(frame), resolve: answered, reject });
        this.#send(frame);
      });
    } finally {
      signal?.removeEventListener("abort", abort);
      this.#waiting.delete(id);
    }
  }

  /** The frames of a stream or a terminal, by its id: they do not say whom they are for, so there is one who listens. */
  listen(id: string, listener: Listener): void {
    if ((this.#listeners.get(id) ?? listener) !== listener)
      throw new TrlError(
        "INVALID_PARAMS",
        `${id} is followed by this client already: read there, or connect again`,
      );
    this.#listeners.set(id, listener);
  }

  unlisten(id: string, listener: Listener): void {
    if (this.#listeners.get(id) === listener) this.#listeners.delete(id);
  }

  async close(): Promise<void> {
    this.#finish(new ConnectionError("the client was closed", true));
    await this.#carrier?.close();
  }

  #send(frame: string): void {
    try {
      this.#carrier!.send(frame);
    } catch (error) {
      this.#abandon(error as Error);
    }
  }

  #receive(text: string): void {
    this.#silentTicks = 0;
    const frame = parsed(text);
    if (!frame) this.#abandon(new Error(`not the protocol of trl came, but: ${text.slice(0, 200)}`));
    else if ("ok" in frame) this.#takeReply(frame as Reply);
    else this.#listeners.get(frame.stream_id ?? frame.session_id ?? "")?.(frame);
  }

  #takeReply(reply: Reply): void {
    const waiting = this.#waiting.get(String(reply.id)) ?? this.#unread(reply);
    if (reply.ok) waiting?.resolve(reply.data);
    else waiting?.reject(new TrlError(reply.error.code, reply.error.message, reply.error.data));
  }

  /** A line that is too long is not read, its id neither: if any of those that wait was, then the longest. */
  #unread(reply: Reply): Waiting | undefined {
    if (reply.id !== unknownId || reply.ok || reply.error.code !== "REQUEST_TOO_LARGE") return undefined;
    const all = [...this.#waiting.values()];
    return all.sort((a, b) => b.bytes - a.bytes)[0];
  }

  /** A machine that sleeps or a network that is gone closes nothing: it just says nothing any more. */
  #listen(): void {
    const isAwaited = !this.isPaused && (this.#waiting.size > 0 || this.#listeners.size > 0);
    this.#silentTicks = isAwaited ? this.#silentTicks + 1 : 0;
    if (this.#silentTicks >= silenceMaxTicks)
      this.#abandon(new Error(`nothing was heard for ${(silenceMaxTicks * tickMs) / 1000} s`));
    else if (this.#silentTicks >= askAfterTicks) void this.request("system.ping", {}).catch(() => {});
  }

  /** The carrier may believe that all is well. */
  #abandon(error: Error): void {
    this.#lose(error);
    void this.#carrier?.close();
  }

  #lose(error: Error): void {
    if (this.#end) return;
    this.#finish(new ConnectionError(`the connection was lost: ${error.message}`, true, { cause: error }));
    this.onLost(this, error);
  }

  #finish(error: ConnectionError): void {
    this.#end ??= error;
    clearInterval(this.#watch);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#listeners.clear();
  }
}

const encoder = new TextEncoder();
const byteLength = (text: string): number => encoder.encode(text).length;

function parsed(text: string): Reply | Frame | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Reply | Frame) : undefined;
  } catch {
    return undefined;
  }
}
