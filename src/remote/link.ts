// One link to a daemon elsewhere, from its opening to its end: requests and their replies, frames and who wants them.
import type { Carrier, OpenCarrier } from "../client/carriers/carrier.ts";
import type { Reply } from "../protocol/envelope.ts";
import { TrlError } from "../protocol/errors.ts";
import type { Result } from "../protocol/methods.ts";
import { askAfterMs, handshakeMs, silenceMaxMs } from "./limits.ts";
import { frameOf, type RemoteFrame } from "./subscriptions/frame-text.ts";

/** The link was lost with the request on its way: it may have been carried out. */
export class LinkLost extends Error {}

const strangerWords = "what is there does not speak the protocol of trl";

interface Waiting {
  resolve(data: unknown): void;
  reject(error: Error): void;
}

export class RemoteLink {
  /** Told when it is lost; not where it was closed. */
  readonly onLost = new Set<(error: Error) => void>();
  /** Of the daemon at the other end. */
  version = "";
  readonly #waiting = new Map<string, Waiting>();
  readonly #listeners = new Map<string, (frame: RemoteFrame) => void>();
  /** What is being asked for or given up, and by whom. */
  readonly #unsettled = new Set<{ id: string; by: object; answer: Promise<unknown> }>();
  #carrier: Carrier | undefined;
  #nextId = 1;
  #lastHeard = performance.now();
  #watch: Timer | undefined;
  /** Why it is over. */
  #end: LinkLost | undefined;

  private constructor() {}

  /** Rejects where there is nobody, or nobody who speaks as we do. */
  static async open(open: OpenCarrier): Promise<RemoteLink> {
    const link = new RemoteLink();
    link.#carrier = await open({
      message: (text) => link.#receive(text),
      closed: (error) => link.#lose(error),
    });
    link.#watch = setInterval(() => link.#listen(), askAfterMs / 3);
    link.#watch.unref();
    await link.#greet();
    return link;
  }

  get isOpen(): boolean {
    return this.#end === undefined;
  }

  /** Nobody waits for anything that comes over it. */
  get isQuiet(): boolean {
    return this.#waiting.size === 0 && this.#listeners.size === 0;
  }

  /** Rejects with the daemon's error, or with LinkLost. `received` is told before any frame behind the reply. */
  request(method: string, params: unknown, received?: (data: unknown) => void): Promise<unknown> {
    if (this.#end) return Promise.reject(this.#end);
    // Nobody waited, so that nothing was to be heard: silence counts from here on.
    if (this.isQuiet) this.#lastHeard = performance.now();
    const id = String(this.#nextId++);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, {
        resolve: (data) => {
          received?.(data);
          resolve(data);
        },
        reject,
      });
      this.#carrier!.send(JSON.stringify({ id, method, params }));
    });
  }

  /** A request by which the frames of an id begin or end: until it is answered, it is open whose they are. */
  arrange(
    { id, by }: { id: string; by: object },
    method: string,
    params: unknown,
    received?: (data: unknown) => void,
  ): Promise<unknown> {
    const answer = this.request(method, params, received);
    const arrangement = { id, by, answer };
    this.#unsettled.add(arrangement);
    const settle = () => void this.#unsettled.delete(arrangement);
    answer.then(settle, settle);
    return answer;
  }

  /**
   * Resolves when all is answered that others have under way with one of these ids; there may be more by then. What one
   * has under way oneself is not waited for: it is answered in the order in which it was asked.
   */
  othersUnsettled(ids: unknown[], by: object): Promise<unknown> | undefined {
    if (this.#unsettled.size === 0) return undefined;
    const others = [...this.#unsettled].filter((each) => each.by !== by && ids.includes(each.id));
    return others.length > 0 ? Promise.allSettled(others.map(({ answer }) => answer)) : undefined;
  }

  /** The frames of a stream or a terminal. */
  listen(id: string, listener: (frame: RemoteFrame) => void): void {
    this.#listeners.set(id, listener);
  }

  unlisten(id: string): void {
    this.#listeners.delete(id);
  }

  isListenedTo(id: string): boolean {
    return this.#listeners.has(id);
  }

  /** Closed on those who use it. */
  async abandon(error: Error): Promise<void> {
    this.#lose(error);
    await this.#carrier?.close();
  }

  async close(): Promise<void> {
    if (this.#end) return;
    this.#finish(new LinkLost("the link was closed"));
    await this.#carrier?.close();
  }

  async #greet(): Promise<void> {
    const late = setTimeout(() => {
      this.#lose(new Error(`nothing was heard within ${handshakeMs / 1000} s`));
      void this.#carrier?.close();
    }, handshakeMs);
    try {
      const pong = (await this.request("system.ping", {})) as Partial<Result<"system.ping">> | null;
      if (typeof pong?.version !== "string") throw new Error(strangerWords);
      this.version = pong.version;
    } catch (error) {
      await this.close();
      throw error instanceof LinkLost && error.cause instanceof Error ? error.cause : error;
    } finally {
      clearTimeout(late);
    }
  }

  #receive(text: string): void {
    if (this.#end) return;
    this.#lastHeard = performance.now();
    try {
      const frame = frameOf(text);
      if (frame) this.#listeners.get(frame.id)?.(frame);
      else this.#takeReply(replyFrom(text));
    } catch (error) {
      // Fields that are missing or of another type show where they are used.
      if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
      this.#lose(new Error(strangerWords, { cause: error }));
      void this.#carrier?.close();
    }
  }

  #takeReply(reply: Reply): void {
    const id = String(reply.id);
    const waiting = this.#waiting.get(id);
    if (reply.ok) waiting?.resolve(reply.data);
    else waiting?.reject(new TrlError(reply.error.code, reply.error.message, reply.error.data));
    this.#waiting.delete(id); // not before: where its data cannot be used, who waits is told of the lost link
  }

  /** A machine that sleeps or a network that is gone closes nothing: it just says nothing any more. */
  #listen(): void {
    const silentMs = performance.now() - this.#lastHeard;
    if (this.isQuiet || silentMs < askAfterMs) return;
    if (silentMs < silenceMaxMs) void this.request("system.ping", {}).catch(() => {});
    else {
      this.#lose(new Error(`nothing was heard for ${Math.round(silentMs / 1000)} s`));
      void this.#carrier?.close();
    }
  }

  #lose(error: Error): void {
    if (this.#end) return;
    this.#finish(new LinkLost(error.message, { cause: error }));
    for (const tell of [...this.onLost]) tell(error);
  }

  #finish(error: LinkLost): void {
    this.#end = error;
    clearInterval(this.#watch);
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#listeners.clear();
    for (const { reject } of waiting) reject(error);
  }
}

/** Throws a TypeError where it is none: a program that merely says our requests back to us answers nothing. */
function replyFrom(text: string): Reply {
  const reply = JSON.parse(text) as Reply;
  if (typeof (reply.ok ? reply.data : reply.error.code) === "undefined") throw new TypeError("no reply");
  return reply;
}
