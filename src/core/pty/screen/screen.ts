// One terminal's screen as the daemon sees it. Output is only kept, up to a limit; then, or when a client wants to see
// the screen, or when the program asks its terminal something and no display is attached that would answer, a screen
// process reads it, in pieces that let other terminals have their turn.
import type { Packing, Unpacking } from "../../../protocol/handover/pieces.ts";
import type { ScreenState } from "../../../protocol/handover/terminals.ts";
import {
  emulatorIdleMs,
  floodScreenBytes,
  screenWorkBytes,
  scrollbackLines,
  unreadScreenBytes,
} from "../../limits.ts";
import type { TerminalSize } from "../driver.ts";
import type { OutputRing } from "../output-ring.ts";
import { type Boundary, boundaryAt } from "./boundary.ts";
import { isPlain, skipFlood } from "./flood-skip.ts";
import { Questions } from "./questions.ts";
import { ScreenProcessError } from "./screen-process.ts";
import type { ScreenQueue, Worker } from "./screens.ts";
import { Sizes } from "./sizes.ts";
import { Trouble } from "./trouble.ts";
import { Waits } from "./waits.ts";
import type { Asked, Pattern, PendingQuery, Piece, Query, Result, Work } from "./work.ts";

const newline = 0x0a;
/** A line of a flood is looked for in so much. */
const lineBytesMax = 4096;
/** Ends a sequence that is half read. */
const cancel = Buffer.from("\x18");

let screens = 0;

export class Screen implements Worker {
  readonly #number = ++screens;
  /** The generation of the process that has the emulator; 0 where none has. */
  #generation = 0;
  readonly #sizes: Sizes;
  /** A fresh emulator begins to read here, */
  #startAt = 0;
  /** or with this redraw, behind which the output goes on. */
  #base: { data: Uint8Array; goesOnAt: number } | undefined;
  /** Written before the next output. */
  #preface: Uint8Array | undefined;
  #sentTo = 0;
  /** Before this offset the program's questions are answered. */
  #answeredTo = 0;
  /** The program's last question ends here, and everything before this is read. */
  #questionEnd = 0;
  #readTo = 0;
  /** Is read without a query. */
  #readUpTo = 0;
  /** From there on the output is text, line ends and colours. */
  #plainFrom = 0;
  readonly #questions = new Questions();
  /** When everything before it is read, plain output behind it may be left out. */
  #skipAt: number | undefined;
  #noSkipBefore = 0;
  /** Of the emulator, after what was sent to it last. */
  #scrollsPlainly = true;
  /** The screen cannot be made again from what is in the ring. */
  #isKept = false;
  readonly #queries: PendingQuery[] = [];
  #asked: (PendingQuery & { boundary: Boundary }) | undefined;
  readonly #waits = new Waits();
  #lastUse = performance.now();
  #wantsClose = false;
  #isDisposed = false;
  readonly #trouble = new Trouble();
  #packed: { data: Uint8Array; offset: number } | "asked" | undefined;

  constructor(
    readonly ring: OutputRing,
    size: TerminalSize,
    /** Where it is read, and where after it has been over its budget. */
    readonly queues: { usual: ScreenQueue; quarantine: ScreenQueue },
    /** The answers to the program's questions, up to where it is read; empty where there was no question. */
    readonly onReply: (text: string) => void,
  ) {
    this.#sizes = new Sizes(size);
  }

  /** As the daemon before an upgrade has left it. What was printed until then has been answered there. */
  takeOver(state: ScreenState, given: Unpacking): void {
    const { end } = this.ring;
    this.#answeredTo = this.#plainFrom = end;
    this.#questions.skipTo(end);
    this.#trouble.error = state.error;
    if (state.kind === "replay") {
      this.#sizes.takeOver(state.resizes);
      return;
    }
    this.beginWith(given.bytes(state.data), state.goesOnAt);
  }

  /** With a redraw of what was before. */
  beginWith(data: Uint8Array, goesOnAt: number): void {
    this.#isKept = true;
    this.#base = { data, goesOnAt };
    this.#answeredTo = this.ring.end;
  }

  /** Why the screen is not what it should be. */
  get error(): string | undefined {
    return this.#trouble.error;
  }

  /** Before an upgrade: what cannot be made again is drawn. To be called until `isPacked`. */
  preparePack(): void {
    if (this.canForget || this.#packed !== undefined) return;
    this.#packed = "asked";
    const keep = (data: Uint8Array, offset: number) => {
      this.#packed = { data, offset };
    };
    this.ask({ kind: "redraw", scrollback: scrollbackLines }).then(
      ({ answer, offset }) => keep(Buffer.from(answer), offset),
      () => keep(new Uint8Array(0), this.ring.start),
    );
  }

  get isPacked(): boolean {
    return this.canForget || typeof this.#packed === "object";
  }

  pack(packing: Packing): ScreenState {
    const { error } = this;
    if (typeof this.#packed !== "object")
      return { kind: "replay", firstSize: this.#sizes.first, resizes: this.#sizes.changes, error };
    const { data, offset } = this.#packed;
    const goesOnAt = Math.max(offset, this.ring.start);
    return { kind: "redraw", size: this.#sizes.current, data: packing.bytes(data), goesOnAt, error };
  }

  /** The upgrade has not taken over. */
  forgetPack(): void {
    this.#packed = undefined;
  }

  resized(size: TerminalSize): void {
    if (this.#sizes.add(size, this.ring.end)) return;
    this.#isKept = true;
    this.#read();
  }

  /** After each push to the ring. `isAttended`: a display shows the output and answers the program's questions. */
  printed(chunk: Uint8Array, isAttended: boolean): void {
    const { end } = this.ring;
    if (!isPlain(chunk)) this.#plainFrom = end;
    if (isAttended) this.#answeredTo = end;
    else if (this.#questions.mayBeIn(this.ring, chunk)) this.#questionEnd = end;
    const isFlood = end - this.#sentTo > floodScreenBytes;
    if (isFlood || this.isAnswering || this.#waits.size > 0) this.#read();
  }

  /** Rejects with a ScreenProcessError where the screen cannot be had. */
  ask<Q extends Query>(query: Q): Promise<Asked<Q>> {
    this.#lastUse = performance.now();
    if (this.#isDisposed) return Promise.reject(new ScreenProcessError("the terminal is gone", false));
    if (this.#trouble.isPaused) return Promise.reject(new ScreenProcessError(this.error!, true));
    const key = JSON.stringify(query);
    let pending = this.#queries.find((other) => other.key === key);
    if (!pending) {
      pending = { ...Promise.withResolvers<Asked<Query>>(), query, key, target: 0 };
      this.#queries.push(pending);
    }
    pending.target = this.ring.end;
    this.#enqueue();
    return pending.promise as Promise<Asked<Q>>;
  }

  /** Everything that is printed by now is read, and looked through for what is waited for. */
  async caughtUp(): Promise<void> {
    await this.ask({ kind: "read" });
  }

  /** Looks for a pattern from what is shown now on. `stop` must be called in the end. */
  waitFor(pattern: Pattern): { found: Promise<"text" | "regex">; stop(): void } {
    const { number, found } = this.#waits.add(pattern, this.ring.end);
    if (this.#trouble.isPaused) this.#waits.rejectAll(this.error!);
    else this.#read();
    const stop = () => {
      if (this.#waits.remove(number) && this.isOpen) this.#enqueue();
    };
    return { found, stop };
  }

  /** Whether all output since the beginning is there to be read again. */
  get canForget(): boolean {
    return this.ring.start === 0 && this.ring.end <= unreadScreenBytes && !this.#isKept;
  }

  get isOpen(): boolean {
    return this.#generation !== 0;
  }

  /** The emulator is given back where it can be made again. True where it was. */
  rest(idleMs = emulatorIdleMs): boolean {
    const isUsed = performance.now() - this.#lastUse < idleMs || this.#waits.size > 0 || this.#hasWork;
    if (!this.isOpen || isUsed || !this.canForget) return false;
    this.#wantsClose = true;
    this.ring.compact();
    this.#enqueue();
    return true;
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#waits.clear(); // nothing more comes
    this.#rejectAll(new ScreenProcessError("the terminal is gone", false));
    if (this.isOpen) this.#enqueue();
  }

  next(generation: number): Work | undefined {
    const isElsewhere = this.#generation !== generation;
    if (this.#isDisposed || (this.#wantsClose && !this.#hasWork)) return this.#close(isElsewhere);
    this.#wantsClose = false;
    if (!this.#hasWork || this.#trouble.isPaused) return undefined;
    const work: Work = { screen: this.#number, pieces: [], patterns: [] };
    if (isElsewhere) {
      this.#rewind();
      this.#generation = generation;
      work.fresh = this.#sizes.first;
    }
    work.patterns = this.#waits.due(this.#sentTo);
    this.#planSkip();
    this.#addPieces(work.pieces);
    const [first] = this.#queries;
    const isRead = this.#skipAt === undefined && this.#waits.isSent;
    if (first && isRead && this.#sentTo >= first.target) {
      work.query = first.query;
      this.#queries.shift();
      this.#asked = { ...first, boundary: boundaryAt(this.ring, this.#sentTo) };
    }
    return work;
  }

  done(result: Result): void {
    this.#trouble.wentWell();
    const wasAnswering = this.isAnswering;
    this.#readTo = this.#sentTo;
    this.#scrollsPlainly = result.scrollsPlainly;
    if (result.replies !== "" || wasAnswering) this.onReply(result.replies);
    this.#waits.settle(result);
    const asked = this.#asked;
    this.#asked = undefined;
    if (asked) {
      const { between, within } = asked.boundary;
      const offset = result.isBetweenSequences ? between : within;
      asked.resolve({ answer: result.answer as never, offset });
    }
    if (this.#skipAt !== undefined && this.#sentTo >= this.#skipAt) this.#skip(result.scrollsPlainly);
    if (this.ring.start > 0 || this.#isKept) this.#sizes.forgetSent();
  }

  failed(error: ScreenProcessError): void {
    this.#generation = 0;
    if (!error.isOverBudget && !this.#trouble.lostProcess()) {
      if (this.#asked) this.#queries.unshift(this.#asked);
      this.#asked = undefined;
      return;
    }
    this.#startOver(error);
  }

  /** The program has asked its terminal something, and the answer is on its way. */
  get isAnswering(): boolean {
    return this.#readTo < this.#questionEnd && !this.#trouble.isPaused;
  }

  get #hasWork(): boolean {
    const isRead = this.#sentTo >= this.#readUpTo;
    return this.#queries.length > 0 || !this.#waits.isSent || !isRead;
  }

  #read(): void {
    this.#readUpTo = this.ring.end;
    if (!this.#trouble.isPaused) this.#enqueue();
  }

  #enqueue(): void {
    (this.#trouble.isSuspect ? this.queues.quarantine : this.queues.usual).add(this);
  }

  #close(isElsewhere: boolean): Work | undefined {
    this.#wantsClose = false;
    this.#generation = 0;
    return isElsewhere ? undefined : { screen: this.#number, pieces: [], patterns: [], close: true };
  }

  /** A fresh emulator reads everything again; what was answered before is not answered again. */
  #rewind(): void {
    const readTo = this.#sentTo;
    this.#answeredTo = Math.max(this.#answeredTo, readTo);
    this.#skipAt = this.#preface = undefined;
    this.#noSkipBefore = 0;
    this.#sizes.rewind();
    this.#waits.sendAgain(readTo);
    this.#scrollsPlainly = this.#base === undefined;
    this.#preface = this.#base?.data;
    this.#sentTo = this.#base?.goesOnAt ?? this.#startAt;
  }

  /** Output was overwritten before it was read. Where it was plain and has scrolled away, it would not show. */
  #goOnInRing(): Uint8Array {
    const { ring } = this;
    const isPlainBehind = this.#plainFrom <= this.#sentTo && this.#scrollsPlainly && !this.#sizes.next;
    this.#skipAt = undefined;
    this.#sentTo = ring.start;
    const lineEnd = ring.start + ring.copy(ring.start, ring.start + lineBytesMax).indexOf(newline) + 1;
    const skip = isPlainBehind ? skipFlood(ring, lineEnd, this.#sizes.current.rows) : undefined;
    if (skip) {
      this.#sentTo = skip.to;
      return Buffer.from(`\r${skip.colours}`);
    }
    this.#startAt = ring.start;
    this.#base = undefined;
    this.#trouble.leftOut(ring.start);
    return cancel;
  }

  #startOver({ message }: ScreenProcessError): void {
    const { end } = this.ring;
    this.#rejectAll(new ScreenProcessError(message, true));
    this.#trouble.overBudget(message, end);
    this.#sizes.forgetAll();
    this.#isKept = true;
    this.#base = this.#preface = undefined;
    this.#sentTo = this.#startAt = this.#answeredTo = this.#readUpTo = this.#readTo = end;
  }

  #rejectAll(error: ScreenProcessError): void {
    if (this.#asked) this.#queries.push(this.#asked);
    this.#asked = undefined;
    for (const { promise, reject } of this.#queries.splice(0)) {
      promise.catch(() => {}); // the caller may be gone
      reject(error);
    }
    this.#waits.rejectAll(error.message);
  }

  #addPieces(pieces: Piece[]): void {
    if (this.#preface) pieces.push({ bytes: this.#preface, isAsked: false });
    this.#preface = undefined;
    const { ring } = this;
    const goal = this.#goal();
    for (let room = screenWorkBytes; room > 0; ) {
      const resize = this.#sizes.next;
      if (resize && resize.offset <= this.#sentTo) {
        pieces.push({ size: this.#sizes.advance() });
        room -= screenWorkBytes / 4; // reads the whole history again
        continue;
      }
      if (this.#sentTo < ring.start) pieces.push({ bytes: this.#goOnInRing(), isAsked: false });
      if (this.#sentTo >= goal) return;
      const boundary = this.#answeredTo > this.#sentTo ? this.#answeredTo : goal;
      const until = Math.min(goal, boundary, resize?.offset ?? goal, this.#sentTo + room);
      // A copy: to send a view is to send all of the ring.
      const bytes = ring.view(this.#sentTo, until - this.#sentTo).slice();
      pieces.push({ bytes, isAsked: this.#sentTo >= this.#answeredTo });
      this.#sentTo += bytes.length;
      room -= bytes.length;
    }
  }

  /** How far to read now. */
  #goal(): number {
    if (this.#skipAt !== undefined) return this.#skipAt;
    const wanted = Math.max(this.#readUpTo, ...this.#queries.map(({ target }) => target));
    return Math.min(wanted, this.#waits.stopBehind(this.#sentTo));
  }

  /** There is so much to read that most of it may never show. */
  #planSkip(): void {
    const { ring } = this;
    const isMuch = ring.end - this.#sentTo > unreadScreenBytes && this.#sentTo >= this.#noSkipBefore;
    if (this.#skipAt !== undefined || !isMuch || this.#waits.size > 0) return;
    // From the beginning of a line on, behind the last of what is not plain.
    const from = Math.max(this.#sentTo, this.#plainFrom, ring.start);
    const lineEnd = ring.copy(from, Math.min(ring.end, from + lineBytesMax)).indexOf(newline) + 1;
    if (lineEnd === 0) this.#noSkipBefore = ring.end;
    else this.#skipAt = from + lineEnd;
  }

  /** Leaves out what cannot show. */
  #skip(scrollsPlainly: boolean): void {
    const { ring } = this;
    const isPlainBehind = this.#plainFrom <= this.#sentTo && this.#sentTo >= ring.start;
    const isPossible = scrollsPlainly && isPlainBehind && this.#sizes.next === undefined;
    this.#skipAt = undefined;
    const skip = isPossible ? skipFlood(ring, this.#sentTo, this.#sizes.current.rows) : undefined;
    if (!skip) {
      this.#noSkipBefore = ring.end;
      return;
    }
    this.#preface = Buffer.from(`\r${skip.colours}`); // behind a line end, whatever the line before was
    this.#sentTo = skip.to;
  }
}
