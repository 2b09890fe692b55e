// What a client follows in another runtime, a command's output or a terminal's: frames are passed on at the pace at
// which the client takes them, and taken up where they were when the link was lost.
import type { TrlError } from "../../protocol/errors.ts";
import type { MethodName } from "../../protocol/methods.ts";
import type { RemoteConnection } from "../connection.ts";
import type { RemoteLink } from "../link.ts";
import type { FrameWriter, FrameWriterUser } from "../writer.ts";
import type { RemoteFrame } from "./frame-text.ts";

interface Passing {
  /** Nothing where the client is not told in its dialect. */
  text: string | undefined;
  /** Whether the client wants it already. */
  mayPass?(): boolean;
  passes?(): void;
  /** The client's connection has taken it. */
  hasLeft?(): void;
  isLast?: boolean;
}

export abstract class RemoteSubscription implements FrameWriterUser {
  #waiting: Passing[] = [];
  /** Has been sent, and has not left yet. */
  #leaving: Passing | undefined;
  #isStarted = false;
  #isOver = false;
  /** All has come. */
  isComplete = false;
  /** Over which it comes, or was asked for last. */
  link: RemoteLink | undefined;

  constructor(
    readonly id: string,
    readonly connection: RemoteConnection,
    readonly outlet: FrameWriter,
  ) {
    outlet.attach(this);
  }

  /** The client does not want it any more, or has gone. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether it is instead of the one before; a stream may be followed by several. */
  abstract readonly takesPlace: boolean;
  /** How the daemon there is told that we do not follow any more. */
  abstract readonly farewell: [method: MethodName, params: object];
  /** A frame of it has come. */
  abstract take(frame: RemoteFrame): void;
  /** Asks on a new link for what comes next. */
  abstract resume(link: RemoteLink): Promise<void>;
  /** It will not go on. */
  abstract lose(error: TrlError): void;

  /** Nothing is sent before the reply to the client is on its way. */
  start(): void {
    this.#isStarted = true;
    this.#advance();
  }

  onWritable(): void {
    const left = this.outlet.isWritable ? this.#leaving : undefined;
    if (left) this.#leaving = undefined;
    left?.hasLeft?.();
    this.#advance();
  }

  onClosed(): void {
    this.end();
  }

  /** The daemon there has let go of it. */
  endedThere(): void {
    this.isComplete = true;
    this.end();
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.connection.unfollow(this);
    this.outlet.detach(this);
  }

  protected pass(passing: Passing): void {
    this.#waiting.push(passing);
    this.#advance();
  }

  /** No other frame comes behind it; but the client may still have to make room for those before it. */
  protected passLast(text: string | undefined): void {
    this.isComplete = true;
    this.#waiting.push({ text, isLast: true });
    this.#advance();
  }

  #advance(): void {
    while (this.#isStarted && !this.#isOver && !this.#leaving && this.outlet.isWritable) {
      const next = this.#waiting[0];
      if (!next || next.mayPass?.() === false) break;
      this.#waiting.shift();
      next.passes?.();
      if (next.text !== undefined) this.outlet.send(Buffer.from(`${next.text}\n`));
      if (next.isLast) this.end();
      else if (this.outlet.isWritable) next.hasLeft?.();
      else this.#leaving = next;
    }
  }
}
