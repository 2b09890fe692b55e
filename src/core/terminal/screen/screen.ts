// The daemon's side of one terminal's screen. Output stays in the ring until a screen process has to read it: when a
// client asks for the screen, when a flood would overwrite unread output, or when the program sends a terminal query and
// no display is attached that replies. The screen process reads in bounded pieces, so that terminals take turns.
//
// Direction of calls: a ScreenQueue pulls work by `next` and reports by `done` or `failed`; this class only enqueues
// itself. Replies to the program leave by the callback `onReply`.
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
import { ReadFailures } from "./failures.ts";
import { isPlain, nextLine, skipFlood } from "./flood-skip.ts";
import { boundaryAt, Queries } from "./queries.ts";
import { ScreenProcessError } from "./screen-process.ts";
import type { ScreenQueue, Screens, WorkSource } from "./screens.ts";
import { Sizes } from "./sizes.ts";
import { QueryDetector } from "./terminal-queries.ts";
import { type SavedRedraw, UpgradeRedraw } from "./upgrade-redraw.ts";
import { Waits } from "./waits.ts";
import type { Pattern, Piece, Query, QueryResult, Result, Work } from "./work.ts";

/** CAN, which aborts an incomplete escape sequence. */
const cancel = Buffer.from("\x18");

export class Screen implements WorkSource {
  /** The screen process that has the emulator, and the emulator's number there. */
  #openIn: symbol | undefined;
  #number = 0;
  readonly #sizes: Sizes;
  /** A fresh emulator begins to read at this offset, or with the redraw of `#base`. */
  #startAt = 0;
  #base: SavedRedraw | undefined;
  #isSaving = false;
  /** Sent before the next output. */
  #preface: Uint8Array | undefined;
  #sentTo = 0;
  /** Terminal queries before this offset have their replies. */
  #answeredTo = 0;
  /** The end of the program's last terminal query; the output up to here is read without a client's query. */
  #queryEnd = 0;
  #readTo = 0;
  /** Output up to this offset is read without a client's query. */
  #readUpTo = 0;
  /** From here on the output consists of text, line ends and colours. */
  #plainFrom = 0;
  readonly #queryDetector = new QueryDetector();
  /** When everything before this offset is read, plain output after it may be skipped. */
  #skipAt: number | undefined;
  #noSkipBefore = 0;
  /** The emulator's state after the last result. */
  #scrollsPlainly = true;
  /** A replay of the ring does not rebuild the screen. */
  #needsRedraw = false;
  readonly #queries = new Queries();
  readonly #waits = new Waits();
  #lastUse = performance.now();
  #wantsClose = false;
  #isDisposed = false;
  readonly #failures = new ReadFailures();
  readonly #upgradeRedraw = new UpgradeRedraw();

  constructor(
    readonly ring: OutputRing,
    size: TerminalSize,
    /** The quarantine queue reads screens that exceeded their budget. */
    readonly queues: Pick<Screens, "usual" | "quarantine">,
    /** Replies to terminal queries in the output read so far; an empty text means that no reply follows. */
    readonly onReply: (text: string) => void,
  ) {
    this.#sizes = new Sizes(size);
  }

  /** After an upgrade. The daemon before it has replied to the queries in the stored output. */
  restore(state: ScreenState, unpacking: Unpacking): void {
    const { end } = this.ring;
    this.#answeredTo = this.#plainFrom = end;
    this.#queryDetector.skipTo(end);
    this.#failures.error = state.error;
    if (state.kind === "replay") {
      this.#sizes.restore(state.resizes);
      return;
    }
    this.startFrom(unpacking.bytes(state.data), state.goesOnAt);
  }

  /** Begins with a redraw, after which the output continues at `offset`. */
  startFrom(data: Uint8Array, offset: number): void {
    this.#needsRedraw = true;
    this.#base = { data, offset };
    this.#answeredTo = this.ring.end;
  }

  /** Why the screen is incomplete. */
  get error(): string | undefined {
    return this.#failures.error;
  }

  /** Before an upgrade: requests a redraw if a replay does not rebuild the screen. To be called until `isPacked`. */
  preparePack(): void {
    const saved = () => this.#base ?? { data: new Uint8Array(0), offset: 0 };
    if (!this.canReplay) this.#upgradeRedraw.request(() => this.#redraw(), saved);
  }

  get isPacked(): boolean {
    return this.canReplay || this.#upgradeRedraw.value !== undefined;
  }

  pack(packing: Packing): ScreenState {
    const { error } = this;
    const redraw = this.#upgradeRedraw.value;
    if (!redraw) return { kind: "replay", firstSize: this.#sizes.first, resizes: this.#sizes.changes, error };
    const goesOnAt = Math.max(redraw.offset, this.ring.start);
    return { kind: "redraw", size: this.#sizes.current, data: packing.bytes(redraw.data), goesOnAt, error };
  }

  /** The upgrade was rolled back. */
  forgetPack(): void {
    this.#upgradeRedraw.forget();
  }

  resized(size: TerminalSize): void {
    if (this.#sizes.add(size, this.ring.end)) return;
    this.#needsRedraw = true;
    this.#read();
  }

  /** To be called after each push to the ring. `isAttended`: a display is attached, which replies to terminal queries. */
  printed(chunk: Uint8Array, isAttended: boolean): void {
    const { end } = this.ring;
    if (!isPlain(chunk)) this.#plainFrom = end;
    if (isAttended) this.#answeredTo = end;
    else if (this.#queryDetector.mayBeIn(this.ring, chunk)) this.#queryEnd = end;
    const isFlood = end - this.#sentTo > floodScreenBytes;
    if (isFlood || this.isAnswering || this.#waits.size > 0) this.#read();
  }

  /** Rejects with a ScreenProcessError if the screen cannot be read. */
  ask<Q extends Query>(query: Q): Promise<QueryResult<Q>> {
    this.#lastUse = performance.now();
    if (this.#isDisposed) return Promise.reject(new ScreenProcessError("the terminal is gone", "lost"));
    if (this.#failures.isPaused)
      return Promise.reject(new ScreenProcessError(this.#failures.reason, "unavailable"));
    const result = this.#queries.add(query, this.ring.end) as Promise<QueryResult<Q>>;
    this.#enqueue();
    return result;
  }

  /** Resolves when all output printed so far is read and searched for the patterns of `waitFor`. */
  async caughtUp(): Promise<void> {
    await this.ask({ kind: "read" });
  }

  /** Searches the screen as it is now and all later output. `stop` must be called in the end. */
  waitFor(pattern: Pattern): { found: Promise<"text" | "regex">; stop(): void } {
    const { number, found } = this.#waits.add(pattern, this.ring.end);
    if (this.#failures.isPaused) this.#waits.rejectAll(this.#failures.reason);
    else this.#read();
    const stop = () => {
      if (this.#waits.remove(number) && this.isOpen) this.#enqueue();
    };
    return { found, stop };
  }

  /** The ring has all output since the beginning, and reading it again is cheap. */
  get canReplay(): boolean {
    return this.ring.start === 0 && this.ring.end <= unreadScreenBytes && !this.#needsRedraw;
  }

  get isOpen(): boolean {
    return this.#openIn !== undefined;
  }

  /** Closes an idle emulator that a replay can rebuild. True if it does. */
  closeIdle(idleMs = emulatorIdleMs): boolean {
    const isUsed = performance.now() - this.#lastUse < idleMs || this.#waits.size > 0 || this.#hasWork;
    if (!this.isOpen || isUsed || !this.canReplay) return false;
    this.#wantsClose = true;
    this.ring.compact();
    this.#enqueue();
    return true;
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#waits.clear(); // they stay pending: no output follows
    this.#rejectAll(new ScreenProcessError("the terminal is gone", "lost"));
    if (this.isOpen) this.#enqueue();
  }

  next(queue: ScreenQueue): Work | undefined {
    if (queue !== this.#queue) return undefined;
    const isOpenHere = this.#openIn === queue.runner.instance;
    if (this.#isDisposed || (this.#wantsClose && !this.#hasWork)) return this.#close(isOpenHere);
    this.#wantsClose = false;
    if (!this.#hasWork || this.#failures.isPaused) return undefined;
    if (!isOpenHere) this.#rewind(queue);
    const work: Work = { screen: this.#number, pieces: [], patterns: [] };
    if (!isOpenHere) work.fresh = this.#sizes.first;
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
    const isSlow = this.#failures.wentWell(result.busyMs);
    const wasAnswering = this.isAnswering;
    this.#readTo = this.#sentTo;
    this.#scrollsPlainly = result.scrollsPlainly;
    if (result.replies !== "" || wasAnswering) this.onReply(result.replies);
    this.#waits.settle(result);
    this.#queries.settle(result);
    if (this.#skipAt !== undefined && this.#sentTo >= this.#skipAt) this.#skip(result.scrollsPlainly);
    if (this.ring.start > 0 || this.#needsRedraw) this.#sizes.forgetSent();
    if (isSlow) this.#moveToQuarantine();
    else this.#saveBase();
  }

  failed(error: ScreenProcessError): void {
    this.#openIn = undefined;
    if (error.failure === "unavailable") {
      this.#failures.unavailable(error.message);
      this.#rejectAll(new ScreenProcessError(this.#failures.reason, error.failure));
    } else if (error.failure === "over budget" || this.#failures.lostProcess()) this.#startOver(error);
    else this.#queries.putBack();
    if (this.#failures.isPaused) setTimeout(() => this.#enqueue(), this.#failures.pauseMs).unref();
  }

  /** The program has sent a terminal query, and the reply is not written yet. */
  get isAnswering(): boolean {
    return this.#readTo < this.#queryEnd && !this.#failures.isPaused;
  }

  get #hasWork(): boolean {
    const isRead = this.#sentTo >= this.#readUpTo;
    return !this.#queries.isEmpty || !this.#waits.isSent || !isRead;
  }

  #read(): void {
    this.#readUpTo = this.ring.end;
    if (!this.#failures.isPaused) this.#enqueue();
  }

  get #queue(): ScreenQueue {
    return this.#failures.isSuspect ? this.queues.quarantine : this.queues.usual;
  }

  #enqueue(): void {
    this.#queue.add(this);
  }

  #moveToQuarantine(): void {
    this.queues.usual.close(this.#number);
    this.#openIn = undefined;
    this.#enqueue();
  }

  /** Saves a redraw at intervals, from which a fresh emulator can start when the ring has lost the beginning. */
  #saveBase(): void {
    const from = this.#base?.offset ?? this.#startAt;
    if (this.#isSaving || this.#sentTo - from < this.ring.capacity / 2) return;
    this.#isSaving = this.#needsRedraw = true;
    const done = (redraw: SavedRedraw | undefined) => {
      this.#isSaving = false;
      if (!this.#failures.isPaused) this.#base = redraw ?? this.#base;
    };
    this.#redraw().then(done, () => done(undefined));
  }

  async #redraw(): Promise<SavedRedraw> {
    const { answer, offset } = await this.ask({ kind: "redraw", scrollback: scrollbackLines });
    return { data: Buffer.from(answer), offset };
  }

  #close(isOpenHere: boolean): Work | undefined {
    this.#wantsClose = false;
    this.#openIn = undefined;
    return isOpenHere ? { screen: this.#number, pieces: [], patterns: [], close: true } : undefined;
  }

  /** For a fresh emulator in the queue's process: everything is read again, without further replies to old queries. */
  #rewind(queue: ScreenQueue): void {
    const readTo = this.#readTo;
    this.#openIn = queue.runner.instance;
    this.#number = queue.newNumber();
    this.#answeredTo = Math.max(this.#answeredTo, readTo);
    this.#skipAt = undefined;
    this.#noSkipBefore = 0;
    this.#sizes.rewind();
    this.#waits.sendAgain(readTo);
    this.#scrollsPlainly = this.#base === undefined;
    this.#preface = this.#base?.data;
    this.#sentTo = this.#base?.offset ?? this.#startAt;
  }

  /** Unread output was overwritten. If it was plain and has scrolled out of the history, nothing is lost. */
  #continueInRing(): Uint8Array {
    const { ring } = this;
    const isPlainAfter = this.#plainFrom <= this.#sentTo && this.#scrollsPlainly && !this.#sizes.next;
    this.#skipAt = undefined;
    this.#sentTo = ring.start;
    const line = nextLine(ring, ring.start) ?? ring.start;
    const skip = isPlainAfter ? skipFlood(ring, line, this.#sizes.current.rows) : undefined;
    if (skip) {
      this.#sentTo = skip.to;
      return Buffer.from(`\r${skip.colours}`);
    }
    this.#startAt = ring.start;
    this.#base = undefined;
    this.#failures.lostOutput(ring.start);
    return cancel;
  }

  #startOver({ message }: ScreenProcessError): void {
    const { end } = this.ring;
    this.#rejectAll(new ScreenProcessError(message, "over budget"));
    this.#failures.overBudget(message, end);
    this.#sizes.forgetAll();
    this.#needsRedraw = true;
    this.#base = this.#preface = undefined;
    this.#sentTo = this.#startAt = this.#answeredTo = this.#readUpTo = this.#readTo = end;
  }

  #rejectAll(error: ScreenProcessError): void {
    this.#queries.rejectAll(error);
    this.#waits.rejectAll(error.message);
  }

  #addPieces(pieces: Piece[]): void {
    if (this.#preface) pieces.push({ bytes: this.#preface, wantsReplies: false });
    this.#preface = undefined;
    const { ring } = this;
    const goal = this.#goal();
    for (let budget = screenWorkBytes; budget > 0; ) {
      if (this.#sentTo < ring.start) pieces.push({ bytes: this.#continueInRing(), wantsReplies: false });
      const resize = this.#sizes.next;
      if (resize && resize.offset <= this.#sentTo) {
        pieces.push({ size: this.#sizes.advance() });
        budget -= screenWorkBytes / 4; // the emulator reflows its whole history
        continue;
      }
      if (this.#sentTo >= goal) return;
      const boundary = this.#answeredTo > this.#sentTo ? this.#answeredTo : goal;
      const until = Math.min(goal, boundary, resize?.offset ?? goal, this.#sentTo + budget);
      // A copy: serializing a view would send the whole buffer of the ring.
      const bytes = ring.view(this.#sentTo, until - this.#sentTo).slice();
      pieces.push({ bytes, wantsReplies: this.#sentTo >= this.#answeredTo });
      this.#sentTo += bytes.length;
      budget -= bytes.length;
    }
  }

  /** The offset up to which output is read now. */
  #goal(): number {
    if (this.#skipAt !== undefined) return this.#skipAt;
    const wanted = Math.max(this.#readUpTo, this.#queries.target);
    return Math.min(wanted, this.#waits.stopAfter(this.#sentTo));
  }

  /** With much unread output, most of it may never show: looks for a line from which on all output is plain. */
  #planSkip(): void {
    const { ring } = this;
    const isMuch = ring.end - this.#sentTo > unreadScreenBytes && this.#sentTo >= this.#noSkipBefore;
    if (this.#skipAt !== undefined || !isMuch || this.#waits.size > 0) return;
    const from = Math.max(this.#sentTo, this.#plainFrom, ring.start);
    this.#skipAt = nextLine(ring, from);
    if (this.#skipAt === undefined) this.#noSkipBefore = ring.end;
  }

  /** Skips output that would scroll out of the history. */
  #skip(scrollsPlainly: boolean): void {
    const { ring } = this;
    const isPlainAfter = this.#plainFrom <= this.#sentTo && this.#sentTo >= ring.start;
    const isPossible = scrollsPlainly && isPlainAfter && this.#sizes.next === undefined;
    this.#skipAt = undefined;
    const skip = isPossible ? skipFlood(ring, this.#sentTo, this.#sizes.current.rows) : undefined;
    if (!skip) {
      this.#noSkipBefore = ring.end;
      return;
    }
    this.#preface = Buffer.from(`\r${skip.colours}`); // "\r": the line end before may have been a bare line feed
    this.#sentTo = skip.to;
  }
}
