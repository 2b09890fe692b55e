// A link to a remote daemon: the client's link plus a version handshake, loss listeners, and the order of requests when
// several clients share the link.
import type { OpenCarrier } from "../client/carriers/carrier.ts";
import { ConnectionError } from "../client/errors.ts";
import { checkedReply, foreignProtocol, Link, type Message, type RequestOptions } from "../client/link.ts";
import type { Result } from "../protocol/methods.ts";
import { handshakeMs } from "./limits.ts";
import { frameOf, type RemoteFrame } from "./subscriptions/frame-text.ts";

type FrameListener = (frame: RemoteFrame) => void;
type LossListener = (error: Error) => void;

/** A request by which the frames of an id begin or end. Until its reply, it is open which client they belong to. */
interface Arrangement {
  id: string;
  /** The connection that sent it. */
  by: object;
  reply: Promise<unknown>;
}

export class RemoteLink {
  readonly #link: Link<RemoteFrame>;
  readonly #arrangements = new Set<Arrangement>();

  private constructor(
    link: Link<RemoteFrame>,
    /** Version of the remote daemon. */
    readonly version: string,
    /** Called when the link is lost; not when it is closed. */
    readonly onLost: Set<LossListener>,
  ) {
    this.#link = link;
  }

  /** Rejects if there is no daemon, or if the other end does not speak the protocol. */
  static async open(open: OpenCarrier): Promise<RemoteLink> {
    const listeners = new Set<LossListener>();
    const onLost = (error: Error) => {
      for (const listener of [...listeners]) listener(error);
    };
    try {
      const link = await Link.open({ open, decode, onLost });
      return new RemoteLink(link, await handshake(link), listeners);
    } catch (error) {
      throw error instanceof ConnectionError ? (error.cause ?? new Error(error.message)) : error;
    }
  }

  get isOpen(): boolean {
    return !this.#link.isClosed;
  }

  get isIdle(): boolean {
    return this.#link.isIdle;
  }

  /** Rejects with the remote daemon's error, or with a ConnectionError if the link is lost before the reply. */
  request(method: string, params: unknown, options?: RequestOptions): Promise<unknown> {
    return this.#link.request(method, params, options);
  }

  /** Sends a request by which the frames of an id begin or end. */
  arrange(
    { id, by }: { id: string; by: object },
    method: string,
    params: unknown,
    options?: RequestOptions,
  ): Promise<unknown> {
    const reply = this.request(method, params, options);
    const arrangement: Arrangement = { id, by, reply };
    this.#arrangements.add(arrangement);
    const settle = () => void this.#arrangements.delete(arrangement);
    reply.then(settle, settle);
    return reply;
  }

  /**
   * Resolves when the arrangements that other connections have pending for one of these ids are settled; there may be
   * new ones by then. Own arrangements are not awaited: the daemon replies to them in order.
   */
  othersUnsettled(ids: unknown[], by: object): Promise<unknown> | undefined {
    if (this.#arrangements.size === 0) return undefined;
    const others = [...this.#arrangements].filter((each) => each.by !== by && ids.includes(each.id));
    return others.length > 0 ? Promise.allSettled(others.map(({ reply }) => reply)) : undefined;
  }

  /** Frames of a stream or terminal go to this listener, which replaces an earlier one. */
  listen(id: string, listener: FrameListener): void {
    this.#link.listen(id, listener);
  }

  unlisten(id: string, listener: FrameListener): void {
    this.#link.unlisten(id, listener);
  }

  hasListener(id: string): boolean {
    return this.#link.hasListener(id);
  }

  /** Closes the link and reports it as lost to its users. */
  async abandon(error: Error): Promise<void> {
    await this.#link.abandon(error);
  }

  async close(): Promise<void> {
    if (this.isOpen) await this.#link.close();
  }
}

/** Resolves to the remote daemon's version. */
async function handshake(link: Link<RemoteFrame>): Promise<string> {
  const timer = setTimeout(
    () => void link.abandon(new Error(`the daemon sent nothing within ${handshakeMs / 1000} s`)),
    handshakeMs,
  );
  try {
    const pong = (await link.request("system.ping", {})) as Partial<Result<"system.ping">> | null;
    if (typeof pong?.version !== "string") throw new Error(foreignProtocol);
    return pong.version;
  } catch (error) {
    if (!link.isClosed) await link.close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Everything that is not a frame must be a reply: a program that echoes the requests is no daemon. */
function decode(text: string): Message<RemoteFrame> {
  const frame = frameOf(text);
  return frame ? { id: frame.id, frame } : { reply: checkedReply(JSON.parse(text)) };
}
