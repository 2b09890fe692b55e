// A client's subscription to a command or terminal in another runtime: a queue of frames that are forwarded as fast as
// the client's connection takes them, and a resume after a lost link.
import type { TrlError } from "../../protocol/errors.ts";
import type { MethodName } from "../../protocol/methods.ts";
import type { RemoteConnection } from "../connection.ts";
import type { RemoteLink } from "../link.ts";
import type { FrameWriter, FrameWriterUser } from "../writer.ts";
import type { RemoteFrame } from "./frame-text.ts";

interface QueuedFrame {
  /** Undefined if the client's dialect has no such frame. */
  text: string | undefined;
  /** False while the client's window is full. */
  maySend?(): boolean;
  /** Called before the frame is sent. */
  onSend?(): void;
  /** Called when the client's connection has capacity after the frame. */
  onFlushed?(): void;
  isLast?: boolean;
}

export abstract class RemoteSubscription implements FrameWriterUser {
  #queue: QueuedFrame[] = [];
  /** Sent, and not flushed yet. */
  #unflushed: QueuedFrame | undefined;
  #isStarted = false;
  #isOver = false;
  /** The last frame has arrived. */
  isComplete = false;
  /** The link that the frames come from, or that was asked for them last. */
  link: RemoteLink | undefined;

  constructor(
    readonly id: string,
    readonly connection: RemoteConnection,
    readonly writer: FrameWriter,
  ) {
    writer.attach(this);
  }

  /** The client has unsubscribed or disconnected, or has the last frame. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** A new subscription to a terminal ends the previous one; a command may have several. */
  abstract readonly replacesPrevious: boolean;
  /** The request that ends the subscription at the remote daemon. */
  abstract readonly detachRequest: [method: MethodName, params: object];
  abstract receive(frame: RemoteFrame): void;
  /** Asks for the next frames on a new link. */
  abstract resume(link: RemoteLink): Promise<void>;
  /** The subscription cannot continue: sends the client a last frame with the error. */
  abstract fail(error: TrlError): void;

  /** Called when the reply to the client is queued; no frame is sent before that. */
  start(): void {
    this.#isStarted = true;
    this.#forward();
  }

  onWritable(): void {
    const flushed = this.writer.isWritable ? this.#unflushed : undefined;
    if (flushed) this.#unflushed = undefined;
    flushed?.onFlushed?.();
    this.#forward();
  }

  onClosed(): void {
    this.end();
  }

  /** The remote daemon has ended the subscription. */
  endedRemotely(): void {
    this.isComplete = true;
    this.end();
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.connection.unsubscribe(this);
    this.writer.detach(this);
  }

  protected enqueue(frame: QueuedFrame): void {
    this.#queue.push(frame);
    this.#forward();
  }

  /** The remote daemon sends nothing more, though earlier frames may still wait for the client. */
  protected enqueueLast(text: string | undefined): void {
    this.isComplete = true;
    this.#queue.push({ text, isLast: true });
    this.#forward();
  }

  #forward(): void {
    while (this.#isStarted && !this.#isOver && !this.#unflushed && this.writer.isWritable) {
      const next = this.#queue[0];
      if (!next || next.maySend?.() === false) break;
      this.#queue.shift();
      next.onSend?.();
      if (next.text !== undefined) this.writer.send(Buffer.from(`${next.text}\n`));
      if (next.isLast) this.end();
      else if (this.writer.isWritable) next.onFlushed?.();
      else this.#unflushed = next;
    }
  }
}
