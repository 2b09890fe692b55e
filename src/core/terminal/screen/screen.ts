// One terminal's screen as the daemon sees it. Output is only kept, up to a limit; then, or when a client wants to see
// the screen, or when the program asks its terminal something and no display is attached that would answer, a screen
// process reads it, in pieces that let other terminals have their turn.
import type { Packing, Unpacking } from "../../../upgrade/schema/fields.ts";
import type { ScreenState } from "../../../upgrade/schema/terminals.ts";
import {
  emulatorIdleMs,
  floodScreenBytes,
  screenWorkBytes,
  scrollbackLines,
  unreadScreenBytes,
} from "../../limits.ts";
import type { TerminalSize } from "../drivers/driver.ts";
import type { OutputRing } from "../ring.ts";
import { boundaryAt } from "./boundary.ts";
import { ReadFailures } from "./failures.ts";
import { isPlain, nextLine, skipFlood } from "./flood-skip.ts";
import { Queries } from "./queries.ts";
import { ScreenProcessError } from "./screen-process.ts";
import type { ScreenQueue, Screens, Worker } from "./screens.ts";
import { Sizes } from "./sizes.ts";
import { TerminalQueries } from "./terminal-queries.ts";
import { type Drawn, UpgradeRedraw } from "./upgrade-redraw.ts";
import { Waits } from "./waits.ts";
import type { Asked, Pattern, Piece, Query, Result, Work } from "./work.ts";

/** Ends a sequence that is half read. */
const cancel = Buffer.from("\x18");

let screens = 0;

export class Screen implements Worker {
  readonly #number = ++screens;
  /** The generation of the process that has the emulator; 0 where none has. */
  #generation = 0;
  readonly #sizes: Sizes;
  /** A fresh emulator begins to read here, or with a redraw, behind which the output goes on. */
  #startAt = 0;
  #base: Drawn | undefined;
  #isSaving = false;
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
  readonly #questions = new TerminalQueries();
  /** When everything before it is read, plain output behind it may be left out. */
  #skipAt: number | undefined;
  #noSkipBefore = 0;
  /** Of the emulator, after what was sent to it last. */
  #scrollsPlainly = true;
  /** The screen cannot be made again from what is in the ring. */
  #isKept = false;
  readonly #queries = new Queries();
  readonly #waits = new Waits();
  #lastUse = performance.now();
  #wantsClose = false;
  #isDisposed = false;
  readonly #trouble = new ReadFailures();
  readonly #drawn = new UpgradeRedraw();

  constructor(
    readonly ring: OutputRing,
    size: TerminalSize,
    /** Where it is read, and where after it has been over its budget. */
    readonly queues: Pick<Screens, "usual" | "quarantine" | "plainStart">,
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
  beginWith(data: Uint8Array, offset: number): void {
    this.#isKept = true;
    this.#base = { data, offset };
    this.#answeredTo = this.ring.end;
  }

  /** Why the screen is not what it should be. */
  get error(): string | undefined {
    return this.#trouble.error;
  }

  /** Before an upgrade: what cannot be made again is drawn. To be called until `isPacked`. */
  preparePack(): void {
    const saved = () => this.#base ?? { data: new Uint8Array(0), offset: 0 };
    if (!this.canForget) this.#drawn.ask(() => this.#draw(), saved);
  }

  get isPacked(): boolean {
    return this.canForget || this.#drawn.value !== undefined;
  }

  pack(packing: Packing): ScreenState {
    const { error } = this;
    const drawn = this.#drawn.value;
    if (!drawn) return { kind: "replay", firstSize: this.#sizes.first, resizes: this.#sizes.changes, error };
    const goesOnAt = Math.max(drawn.offset, this.ring.start);
    return { kind: "redraw", size: this.#sizes.current, data: packing.bytes(drawn.data), goesOnAt, error };
  }

  /** The upgrade has not taken over. */
  forgetPack(): void {
    this.#drawn.forget();
  }

  resized(size: TerminalSize): void {
    if (this.#sizes.add(size, this.ring.end)) return;
    this.#isKept = true;
    this.#read();
  }

  /** After each push to the ring. `isAttended`: a display shows the output and answers the program's questions. */
  printed(chunk: Uint8Array, isAttended: boolean): void {
    const { end } = this.ring;
    if (!isPlain(chunk, this.queues.plainStart)) this.#plainFrom = end;
    if (isAttended) this.#answeredTo = end;
    else if (this.#questions.mayBeIn(this.ring, chunk)) this.#questionEnd = end;
    const isFlood = end - this.#sentTo > floodScreenBytes;
    if (isFlood || this.isAnswering || this.#waits.size > 0) this.#read();
  }

  /** Rejects with a ScreenProcessError where the screen cannot be had. */
  ask<Q extends Query>(query: Q): Promise<Asked<Q>> {
    this.#lastUse = performance.now();
    if (this.#isDisposed) return Promise.reject(new ScreenProcessError("the terminal is gone", "lost"));
    if (this.#trouble.isPaused)
      return Promise.reject(new ScreenProcessError(this.#trouble.reason, "unavailable"));
    const answer = this.#queries.add(query, this.ring.end) as Promise<Asked<Q>>;
    this.#enqueue();
    return answer;
  }

  /** Everything that is printed by now is read, and looked through for what is waited for. */
  async caughtUp(): Promise<void> {
    await this.ask({ kind: "read" });
  }

  /** Looks for a pattern from what is shown now on. `stop` must be called in the end. */
  waitFor(pattern: Pattern): { found: Promise<"text" | "regex">; stop(): void } {
    const { number, found } = this.#waits.add(pattern, this.ring.end);
    if (this.#trouble.isPaused) this.#waits.rejectAll(this.#trouble.reason);
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
    this.#rejectAll(new ScreenProcessError("the terminal is gone", "lost"));
    if (this.isOpen) this.#enqueue();
  }

  next(queue: ScreenQueue): Work | undefined {
    if (queue !== this.#queue) return undefined;
    const { generation } = queue.runner;
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
    const isSized = !this.#sizes.next || this.#sizes.next.offset > this.#sentTo;
    const isRead = this.#skipAt === undefined && this.#waits.isSent && isSized;
    const boundary = () => boundaryAt(this.ring, this.#sentTo);
    const query = isRead ? this.#queries.take(this.#sentTo, boundary) : undefined;
    if (query) work.query = query;
    return work;
  }

  done(result: Result): void {
    const isSlow = this.#trouble.wentWell(result.busyMs);
    const wasAnswering = this.isAnswering;
    this.#readTo = this.#sentTo;
    this.#scrollsPlainly = result.scrollsPlainly;
    if (result.replies !== "" || wasAnswering) this.onReply(result.replies);
    this.#waits.settle(result);
    this.#queries.answer(result);
    if (this.#skipAt !== undefined && this.#sentTo >= this.#skipAt) this.#skip(result.scrollsPlainly);
    if (this.ring.start > 0 || this.#isKept) this.#sizes.forgetSent();
    if (isSlow) this.#moveApart();
    else this.#save();
  }

  failed(error: ScreenProcessError): void {
    this.#generation = 0;
    if (error.failure === "unavailable") {
      this.#trouble.unavailable(error.message);
      this.#rejectAll(new ScreenProcessError(this.#trouble.reason, error.failure));
    } else if (error.failure === "over budget" || this.#trouble.lostProcess()) this.#startOver(error);
    else this.#queries.putBack();
    if (this.#trouble.isPaused) setTimeout(() => this.#enqueue(), this.#trouble.pauseMs).unref();
  }

  /** The program has asked its terminal something, and the answer is on its way. */
  get isAnswering(): boolean {
    return this.#readTo < this.#questionEnd && !this.#trouble.isPaused;
  }

  get #hasWork(): boolean {
    const isRead = this.#sentTo >= this.#readUpTo;
    return !this.#queries.isEmpty || !this.#waits.isSent || !isRead;
  }

  #read(): void {
    this.#readUpTo = this.ring.end;
    if (!this.#trouble.isPaused) this.#enqueue();
  }

  get #queue(): ScreenQueue {
    return this.#trouble.isSuspect ? this.queues.quarantine : this.queues.usual;
  }

  #enqueue(): void {
    this.#queue.add(this);
  }

  /** To the other process, where it is read again from what was saved. */
  #moveApart(): void {
    this.queues.usual.close(this.#number);
    this.#generation = 0;
    this.#enqueue();
  }

  /** A redraw now and then, so that the end of a process costs no screen whose beginning is not in the ring any more. */
  #save(): void {
    const from = this.#base?.offset ?? this.#startAt;
    if (this.#isSaving || this.#sentTo - from < this.ring.capacity / 2) return;
    this.#isSaving = this.#isKept = true;
    const done = (drawn: Drawn | undefined) => {
      this.#isSaving = false;
      if (!this.#trouble.isPaused) this.#base = drawn ?? this.#base;
    };
    this.#draw().then(done, () => done(undefined));
  }

  async #draw(): Promise<Drawn> {
    const { answer, offset } = await this.ask({ kind: "redraw", scrollback: scrollbackLines });
    return { data: Buffer.from(answer), offset };
  }

  #close(isElsewhere: boolean): Work | undefined {
    this.#wantsClose = false;
    this.#generation = 0;
    return isElsewhere ? undefined : { screen: this.#number, pieces: [], patterns: [], close: true };
  }

  /** A fresh emulator reads everything again; what was answered before is not answered again. */
  #rewind(): void {
    const readTo = this.#readTo;
    this.#answeredTo = Math.max(this.#answeredTo, readTo);
    this.#skipAt = this.#preface = undefined;
    this.#noSkipBefore = 0;
    this.#sizes.rewind();
    this.#waits.sendAgain(readTo);
    this.#scrollsPlainly = this.#base === undefined;
    this.#preface = this.#base?.data;
    this.#sentTo = this.#base?.offset ?? this.#startAt;
  }

  /** Output was overwritten before it was read. Where it was plain and has scrolled away, it would not show. */
  #goOnInRing(): Uint8Array {
    const { ring } = this;
    const isPlainBehind = this.#plainFrom <= this.#sentTo && this.#scrollsPlainly && !this.#sizes.next;
    this.#skipAt = undefined;
    this.#sentTo = ring.start;
    const line = nextLine(ring, ring.start) ?? ring.start;
    const skip = isPlainBehind ? skipFlood(ring, line, this.#sizes.current.rows) : undefined;
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
    this.#rejectAll(new ScreenProcessError(message, "over budget"));
    this.#trouble.overBudget(message, end);
    this.#sizes.forgetAll();
    this.#isKept = true;
    this.#base = this.#preface = undefined;
    this.#sentTo = this.#startAt = this.#answeredTo = this.#readUpTo = this.#readTo = end;
  }

  #rejectAll(error: ScreenProcessError): void {
    this.#queries.rejectAll(error);
    this.#waits.rejectAll(error.message);
  }

  #addPieces(pieces: Piece[]): void {
    if (this.#preface) pieces.push({ bytes: this.#preface, isAsked: false });
    this.#preface = undefined;
    const { ring } = this;
    const goal = this.#goal();
    for (let room = screenWorkBytes; room > 0; ) {
      if (this.#sentTo < ring.start) pieces.push({ bytes: this.#goOnInRing(), isAsked: false });
      const resize = this.#sizes.next;
      if (resize && resize.offset <= this.#sentTo) {
        pieces.push({ size: this.#sizes.advance() });
        room -= screenWorkBytes / 4; // reads the whole history again
        continue;
      }
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
    const wanted = Math.max(this.#readUpTo, this.#queries.target);
    return Math.min(wanted, this.#waits.stopBehind(this.#sentTo));
  }

  /** There is so much to read that most of it may never show. */
  #planSkip(): void {
    const { ring } = this;
    const isMuch = ring.end - this.#sentTo > unreadScreenBytes && this.#sentTo >= this.#noSkipBefore;
    if (this.#skipAt !== undefined || !isMuch || this.#waits.size > 0) return;
    // From the beginning of a line on, behind the last of what is not plain.
    const from = Math.max(this.#sentTo, this.#plainFrom, ring.start);
    this.#skipAt = nextLine(ring, from);
    if (this.#skipAt === undefined) this.#noSkipBefore = ring.end;
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
