// One client subscribed to one terminal: a cursor in the terminal's ring that advances as fast as the client reads. The
// ring is the queue. If the ring overwrites the cursor, the client gets a gap and a redraw of the screen; neither the
// program nor other subscribers wait for it.

import type { TerminalSize } from "../core/terminal/drivers/driver.ts";
import type { Redraw } from "../core/terminal/screen/picture.ts";
import type { TerminalListener } from "../core/terminal/subscribers.ts";
import type { Terminal } from "../core/terminal/terminal.ts";
import type { OutgoingQueue, QueueSubscriber } from "./outgoing-queue.ts";
import { controlFrame, redrawFrame, type TerminalDialect, type TerminalFrames } from "./terminal-frames.ts";

/** Resizes that wait to be sent; beyond it the oldest is dropped. */
const resizesMax = 64;

export interface SubscriptionSpec {
  terminal: Terminal;
  queue: OutgoingQueue;
  frames: TerminalFrames;
  dialect: TerminalDialect;
  /** The first offset; undefined for a redraw of the screen. */
  from: number | undefined;
  /** Lines above the screen in that redraw. */
  scrollback: number;
  /** How many unacknowledged bytes may be sent; undefined if the client does not acknowledge output. */
  windowBytes?: number | undefined;
  /** The client only records, and does not reply to the program's terminal queries. */
  isPassive?: boolean;
  /** The exit frame waits until every process that the program started is dead. */
  exitsAfterTree?: boolean;
  onEnd(): void;
}

export class TerminalSubscription implements QueueSubscriber, TerminalListener {
  readonly isDisplay: boolean;
  readonly #spec: SubscriptionSpec;
  #cursor: number;
  #acknowledged: number;
  #wantsRedraw: boolean;
  #drawing: Promise<Redraw> | undefined;
  /** Drawn, and not sent yet. */
  #redraw: Redraw | undefined;
  /** 0 after the first redraw: the client has the lines above the screen. */
  #scrollback: number;
  #resizes: (TerminalSize & { offset: number })[] = [];
  #isStarted = false;
  #isEnded = false;

  constructor(spec: SubscriptionSpec) {
    const { terminal, queue, from, scrollback } = spec;
    this.#spec = spec;
    this.isDisplay = spec.isPassive !== true;
    this.#cursor = from ?? terminal.ring.end;
    this.#acknowledged = this.#cursor;
    this.#wantsRedraw = from === undefined;
    this.#scrollback = scrollback;
    terminal.subscribers.add(this);
    queue.attach(this);
  }

  /** Draws the screen if the subscription begins with it; returns the offset where the output begins. */
  async prepare(): Promise<number> {
    if (!this.#wantsRedraw) return this.#cursor;
    if (this.#redraw) return this.#redraw.offset;
    this.#drawing ??= this.#spec.terminal.picture.redraw(this.#scrollback);
    const drawing = this.#drawing;
    const redraw = await drawing;
    if (this.#drawing === drawing) {
      this.#drawing = undefined;
      this.#redraw = redraw;
      this.#advance();
      return redraw.offset;
    }
    return this.prepare(); // the terminal was resized meanwhile
  }

  /** Nothing is sent before this call. */
  start(): void {
    this.#isStarted = true;
    this.#advance();
  }

  printed(): void {
    this.#advance();
  }

  resized(size: TerminalSize): void {
    this.#drawing = this.#redraw = undefined; // they have the old size
    const offset = this.#spec.terminal.ring.end;
    if (this.#resizes.at(-1)?.offset === offset) this.#resizes.pop();
    this.#resizes.push({ ...size, offset });
    if (this.#resizes.length > resizesMax) this.#resizes.shift();
    this.#advance();
  }

  exited(): void {
    this.#advance();
  }

  /** The client has taken everything before this offset. */
  acknowledge(offset: number): void {
    this.#acknowledged = Math.max(this.#acknowledged, Math.min(offset, this.#cursor));
    this.#advance();
  }

  onWritable(): void {
    this.#advance();
  }

  onClosed(): void {
    this.end();
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { terminal, queue, onEnd } = this.#spec;
    terminal.subscribers.remove(this);
    queue.detach(this);
    onEnd();
  }

  #advance(): void {
    if (!this.#isStarted) return;
    while (!this.#isEnded && this.#spec.queue.isWritable && this.#sendNext());
  }

  /** False if there is nothing to send for now. */
  #sendNext(): boolean {
    const { terminal, queue, frames, dialect, windowBytes, exitsAfterTree } = this.#spec;
    const { ring } = terminal;
    if (this.#cursor < ring.start) {
      this.#send(dialect.gap?.(terminal, this.#cursor, ring.end));
      this.#cursor = this.#acknowledged = ring.end; // the window starts anew
      this.#resizes.splice(0, this.#resizes.length - 1); // the redraw has the last size
      this.#wantsRedraw = true;
      return true;
    }
    const resize = this.#resizes[0];
    if (resize && (resize.offset <= this.#cursor || this.#wantsRedraw)) {
      this.#resizes.shift();
      this.#send(dialect.resize?.(terminal, resize));
      return true;
    }
    if (this.#wantsRedraw) {
      const redraw = this.#redraw;
      if (!redraw) {
        void this.prepare();
        return false;
      }
      this.#wantsRedraw = false;
      this.#redraw = undefined;
      this.#scrollback = 0;
      this.#cursor = this.#acknowledged = redraw.offset;
      queue.send(redrawFrame(terminal, dialect, redraw));
      return true;
    }
    if (this.#cursor < ring.end) {
      const windowEnd =
        windowBytes === undefined || queue.isInputEnded
          ? Number.POSITIVE_INFINITY
          : this.#acknowledged + windowBytes;
      if (this.#cursor >= windowEnd) return false;
      const limit = Math.min(resize?.offset ?? ring.end, windowEnd);
      const { frame, end } = frames.output(terminal, dialect, this.#cursor, limit);
      this.#cursor = end;
      queue.send(frame);
      return true;
    }
    if (exitsAfterTree ? !terminal.isDead : !terminal.exit) return false;
    this.#send(dialect.exit(terminal));
    this.end();
    return false;
  }

  #send(text: string | undefined): void {
    if (text !== undefined) this.#spec.queue.send(controlFrame(text));
  }
}
