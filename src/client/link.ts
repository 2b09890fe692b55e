// One connection to a daemon over a carrier: matches replies to requests, passes frames to their listeners, and detects
// a daemon that is silent. It does not reconnect: persistent-link.ts and src/remote/connection.ts do.
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

/** What arrives: a reply, or a frame with the id of its stream or terminal. */
export type Message<F> = { reply: Reply } | { id: string; frame: F };

export interface LinkOptions<F> {
  open: OpenCarrier;
  /** Throws a SyntaxError or a TypeError if the text is no message of the protocol. */
  decode(text: string): Message<F>;
  /** Called once if the connection is lost; not after `close`. */
  onLost(error: Error, link: Link<F>): void;
}

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  /** Called with the reply's data before any frame that arrives behind the reply. */
  received?: ((data: unknown) => void) | undefined;
}

interface PendingRequest {
  /** Length of the request on the wire. */
  bytes: number;
  resolve(data: unknown): void;
  reject(error: unknown): void;
}

/** Silence is counted in ticks, not by the clock: a process that was stopped for an hour has not listened meanwhile. */
const tickMs = 5000;
/** After this much silence the link sends a ping. */
const pingAfterTicks = 3;
/** After this much silence, pings included, the link counts as lost. */
const silenceMaxTicks = 9;

export class Link<F = Frame> {
  readonly #options: LinkOptions<F>;
  readonly #pending = new Map<string, PendingRequest>();
  readonly #listeners = new Map<string, (frame: F) => void>();
  #carrier: Carrier | undefined;
  #nextId = 1;
  #silentTicks = 0;
  /** The caller has paused the carrier, so silence says nothing about the daemon. */
  isPaused = false;
  #silenceTimer: ReturnType<typeof setInterval> | undefined;
  /** Why the link is closed. */
  #end: ConnectionError | undefined;

  private constructor(options: LinkOptions<F>) {
    this.#options = options;
  }

  /** Rejects as `open` rejects, or with a ConnectionError if the carrier closes while it opens. */
  static async open<F>(options: LinkOptions<F>): Promise<Link<F>> {
    const link = new Link<F>(options);
    link.#carrier = await options.open({
      message: (text) => link.#receive(text),
      closed: (error) => link.#lose(error),
    });
    if (link.#end) {
      await link.#carrier.close();
      throw link.#end;
    }
    link.#silenceTimer = setInterval(() => link.#checkSilence(), tickMs);
    (link.#silenceTimer as { unref?: () => void }).unref?.(); // the carrier keeps the process alive
    return link;
  }

  get isClosed(): boolean {
    return this.#end !== undefined;
  }

  /** No request waits for its reply, and no listener waits for frames. */
  get isIdle(): boolean {
    return this.#pending.size === 0 && this.#listeners.size === 0;
  }

  /** Rejects with the daemon's error, or with a ConnectionError if the connection is lost before the reply. */
  request(method: string, params: unknown, options: RequestOptions = {}): Promise<unknown> {
    const { signal, received } = options;
    if (this.#end) return Promise.reject(new ConnectionError("the connection is closed", false));
    if (signal?.aborted) return Promise.reject(signal.reason);
    const id = String(this.#nextId++);
    return new Promise((resolve, reject) => {
      const text = JSON.stringify({ id, method, params });
      const settle = () => {
        this.#pending.delete(id);
        signal?.removeEventListener("abort", abort);
      };
      const fail = (error: unknown) => {
        settle();
        reject(error);
      };
      const abort = () => fail(signal!.reason);
      signal?.addEventListener("abort", abort);
      const succeed = (data: unknown) => {
        received?.(data); // if it throws, the request is still pending and fails with the link
        settle();
        resolve(data);
      };
      this.#pending.set(id, { bytes: byteLength(text), resolve: succeed, reject: fail });
      this.#send(text);
    });
  }

  /** Frames of a stream or terminal go to this listener, which replaces an earlier one. */
  listen(id: string, listener: (frame: F) => void): void {
    this.#listeners.set(id, listener);
  }

  /** As `listen`, but throws if the id has another listener: frames do not say which subscription they belong to. */
  listenAlone(id: string, listener: (frame: F) => void): void {
    if ((this.#listeners.get(id) ?? listener) !== listener)
      throw new TrlError(
        "INVALID_PARAMS",
        `${id} is followed by this client already: use that stream or terminal, or open another connection`,
      );
    this.listen(id, listener);
  }

  /** Does nothing if the id has another listener by now. */
  unlisten(id: string, listener: (frame: F) => void): void {
    if (this.#listeners.get(id) === listener) this.#listeners.delete(id);
  }

  hasListener(id: string): boolean {
    return this.#listeners.has(id);
  }

  async close(): Promise<void> {
    this.#finish(new ConnectionError("the client was closed", true));
    await this.#carrier?.close();
  }

  /** Treats the connection as lost, though the carrier may believe that it works, and closes the carrier. */
  async abandon(error: Error): Promise<void> {
    this.#lose(error);
    await this.#carrier?.close();
  }

  #send(text: string): void {
    try {
      this.#carrier!.send(text);
    } catch (error) {
      void this.abandon(error as Error);
    }
  }

  #receive(text: string): void {
    if (this.#end) return;
    this.#silentTicks = 0;
    try {
      const message = this.#options.decode(text);
      if ("reply" in message) this.#takeReply(message.reply);
      else this.#listeners.get(message.id)?.(message.frame);
    } catch (error) {
      // A field that is missing or has another type shows in the code that uses it, which may be a listener.
      if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
      const sent = JSON.stringify(text.slice(0, 200));
      void this.abandon(new Error(`${foreignProtocol}: it sent ${sent}`, { cause: error }));
    }
  }

  #takeReply(reply: Reply): void {
    const request = this.#pending.get(String(reply.id)) ?? this.#oversizedRequest(reply);
    if (reply.ok) request?.resolve(reply.data);
    else request?.reject(new TrlError(reply.error.code, reply.error.message, reply.error.data));
  }

  /** The daemon does not read a request that is too long, nor its id: the reply is for the longest that is pending. */
  #oversizedRequest(reply: Reply): PendingRequest | undefined {
    if (reply.id !== unknownId || reply.ok || reply.error.code !== "REQUEST_TOO_LARGE") return undefined;
    return [...this.#pending.values()].sort((a, b) => b.bytes - a.bytes)[0];
  }

  /** A machine that sleeps or a network that fails closes no connection: the only sign of it is silence. */
  #checkSilence(): void {
    this.#silentTicks = this.isPaused || this.isIdle ? 0 : this.#silentTicks + 1;
    if (this.#silentTicks >= silenceMaxTicks)
      void this.abandon(new Error(`the daemon sent nothing for ${(silenceMaxTicks * tickMs) / 1000} s`));
    else if (this.#silentTicks >= pingAfterTicks) void this.request("system.ping", {}).catch(() => {});
  }

  #lose(error: Error): void {
    if (this.#end) return;
    this.#finish(new ConnectionError(`the connection was lost: ${error.message}`, true, { cause: error }));
    this.#options.onLost(error, this);
  }

  #finish(error: ConnectionError): void {
    this.#end ??= error;
    clearInterval(this.#silenceTimer);
    this.#listeners.clear();
    for (const { reject } of [...this.#pending.values()]) reject(error);
  }
}

export const foreignProtocol = "the other end does not speak the protocol of trl";

/** Decodes frames as a whole. src/remote has a decoder that leaves the output in a frame as text. */
export function decodeFrame(text: string): Message<Frame> {
  const value = JSON.parse(text) as Reply | Frame;
  if ("ok" in value) return { reply: checkedReply(value as Reply) };
  return { id: value.stream_id ?? value.session_id ?? "", frame: value };
}

/** Throws a TypeError if it is no reply. */
export function checkedReply(reply: Reply): Reply {
  if (typeof (reply.ok ? reply.data : reply.error.code) === "undefined") throw new TypeError("not a reply");
  return reply;
}

const encoder = new TextEncoder();
const byteLength = (text: string): number => encoder.encode(text).length;
