// One client that watches one terminal: a place in the terminal's ring that moves on as fast as the client reads. The
// ring is the queue. Who falls so far behind that it has been overwritten is told of the gap and sees the screen anew;
// neither the program nor anybody else waits.

import type { TerminalSize } from "../core/terminal/drivers/driver.ts";
import type { Redraw } from "../core/terminal/screen/picture.ts";
import type { TerminalListener } from "../core/terminal/subscribers.ts";
import type { Terminal } from "../core/terminal/terminal.ts";
import type { ByteEncoder } from "../util/byte-encoder.ts";
import type { OutgoingQueue, QueueSubscriber } from "./outgoing-queue.ts";
import { controlFrame, outputFrame, redrawFrame, type TerminalDialect } from "./terminal-frames.ts";

/** More sizes than anybody can see. */
const resizesMax = 64;

export interface SubscriptionSpec {
  terminal: Terminal;
  lane: OutgoingQueue;
  dialect: TerminalDialect;
  encoder: ByteEncoder;
  /** Where to begin; undefined for a redraw of the screen, with so many lines above it. */
  from: number | undefined;
  scrollback: number;
  /** How many bytes may be under way, where the client says how much it has taken. */
  windowBytes?: number | undefined;
  /** Only records: the program's questions to its terminal are not for this client. */
  isPassive?: boolean;
  /** The exit frame comes when everything that the program started is dead, too. */
  exitsAfterTree?: boolean;
  onEnd(): void;
}

export class TerminalSubscription implements QueueSubscriber, TerminalListener {
  readonly isDisplay: boolean;
  readonly #spec: SubscriptionSpec;
  #cursor: number;
  /** What the client has taken, by its own word. */
  #takenTo: number;
  #wantsRedraw: boolean;
  #drawing: Promise<Redraw> | undefined;
  /** Made, and not sent yet. */
  #redraw: Redraw | undefined;
  /** Lines above the screen are sent once; after a gap the client has its own. */
  #scrollback: number;
  #resizes: (TerminalSize & { offset: number })[] = [];
  #isStarted = false;
  #isOver = false;

  constructor(spec: SubscriptionSpec) {
    const { terminal, lane, from, scrollback } = spec;
    this.#spec = spec;
    this.isDisplay = spec.isPassive !== true;
    this.#cursor = from ?? terminal.ring.end;
    this.#takenTo = this.#cursor;
    this.#wantsRedraw = from === undefined;
    this.#scrollback = scrollback;
    terminal.subscribers.add(this);
    lane.attach(this);
  }

  /** Where the output begins, behind the screen where that is wanted first. */
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
    return this.prepare(); // one of another size is on its way, or is made
  }

  /** Nothing is sent before. */
  start(): void {
    this.#isStarted = true;
    this.#advance();
  }

  printed(): void {
    this.#advance();
  }

  resized(size: TerminalSize): void {
    this.#drawing = this.#redraw = undefined; // of the size before
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
    this.#takenTo = Math.max(this.#takenTo, Math.min(offset, this.#cursor));
    this.#advance();
  }

  roomMade(): void {
    this.#advance();
  }

  closed(): void {
    this.end();
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { terminal, lane, onEnd } = this.#spec;
    terminal.subscribers.remove(this);
    lane.detach(this);
    onEnd();
  }

  #advance(): void {
    if (!this.#isStarted) return;
    while (!this.#isOver && this.#spec.lane.hasRoom && this.#sendNext());
  }

  /** False where there is nothing to send for now. */
  #sendNext(): boolean {
    const { terminal, lane, dialect, encoder, windowBytes, exitsAfterTree } = this.#spec;
    const { ring } = terminal;
    if (this.#cursor < ring.start) {
      this.#send(dialect.gap?.(terminal, this.#cursor, ring.end));
      this.#cursor = this.#takenTo = ring.end; // what was under way before does not matter any more
      this.#resizes.splice(0, this.#resizes.length - 1); // the last one is the size of the screen to come
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
      this.#cursor = this.#takenTo = redraw.offset;
      lane.send(redrawFrame(terminal, dialect, redraw));
      return true;
    }
    if (this.#cursor < ring.end) {
      const windowEnd =
        windowBytes === undefined || lane.isDeaf ? Number.POSITIVE_INFINITY : this.#takenTo + windowBytes;
      if (this.#cursor >= windowEnd) return false;
      const limit = Math.min(resize?.offset ?? ring.end, windowEnd);
      const { frame, end } = outputFrame(terminal, { dialect, encoder }, this.#cursor, limit);
      this.#cursor = end;
      lane.send(frame);
      return true;
    }
    if (exitsAfterTree ? !terminal.isDead : !terminal.exit) return false;
    this.#send(dialect.exit(terminal));
    this.end();
    return false;
  }

  #send(text: string | undefined): void {
    if (text !== undefined) this.#spec.lane.send(controlFrame(text));
  }
}
