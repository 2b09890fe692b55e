// Fairness among programs that print without end. Each may print so much, then its output is stopped and it waits for
// its turn; turns come one at a time, with a pause in which everybody else is served. The pause is long while somebody
// types: a flood keeps two cores busy, its program, the kernel's work on it and ours, and an echo would have to wait for
// them. Measured with four floods on two cores: without turns an echo takes more than 200 ms at p99.
import {
  floodTurnBytes,
  floodTurnPauseMs,
  loneFloodTurnBytes,
  politePauseMs,
  typingMs,
  userDecidesMs,
} from "../limits.ts";
import { type OutputValve, valveOf } from "./flow.ts";

const waiting: Turns[] = [];
let isScheduled = false;
let lastTyped = Number.NEGATIVE_INFINITY;

/** At any terminal. */
export function somebodyTyped(): void {
  lastTyped = performance.now();
}

function scheduleNext(): void {
  if (isScheduled || waiting.length === 0) return;
  isScheduled = true;
  const isTyping = performance.now() - lastTyped < typingMs;
  // One flood by itself waits for those who have something to do now, and for nobody else.
  if (!isTyping && waiting.length === 1) setImmediate(takeTurn);
  else setTimeout(takeTurn, isTyping ? politePauseMs : floodTurnPauseMs);
}

function takeTurn(): void {
  isScheduled = false;
  waiting.shift()?.begin();
  scheduleNext();
}

/** One terminal's part. */
export class Turns {
  #pid: number;
  #printedBytes = 0;
  #lastPrinted = 0;
  #isWaiting = false;
  #valve: OutputValve | undefined;
  #isOver = false;
  #freeUntil = 0;

  constructor(pid: number) {
    this.#pid = pid;
  }

  printed(bytes: number): void {
    const now = performance.now();
    // Who has been quiet for a moment is no flood.
    if (now - this.#lastPrinted > floodTurnPauseMs && !this.#isWaiting) this.#printedBytes = 0;
    this.#lastPrinted = now;
    this.#printedBytes += bytes;
    const isAlone = waiting.length === 0 && now - lastTyped > typingMs;
    const turnBytes = isAlone ? loneFloodTurnBytes : floodTurnBytes;
    // What had been on its way already; the reading is stopped all the same.
    if (this.#isWaiting) this.#valve?.close();
    if (this.#printedBytes < turnBytes || this.#isWaiting || this.#isOver) return;
    if (now < this.#freeUntil) return;
    this.#valve ??= valveOf(this.#pid);
    if (!this.#valve) return;
    this.#valve.close();
    this.#isWaiting = true;
    waiting.push(this);
    scheduleNext();
  }

  /**
   * The user stops the output (^S), or lets it go on. While it is stopped for us that would have no effect, and our
   * opening would undo it: so it flows for a moment, in which the terminal can take what was typed.
   */
  letUserDecide(): void {
    this.#freeUntil = performance.now() + userDecidesMs;
    this.letFlow();
  }

  /** Out of turn: whoever comes after us does not know that we stopped it. */
  letFlow(): void {
    if (!this.#isWaiting) return;
    waiting.splice(waiting.indexOf(this), 1);
    this.begin();
  }

  begin(): void {
    this.#printedBytes = 0;
    this.#isWaiting = false;
    if (!this.#isOver) this.#valve?.open();
  }

  /** The program has ended. */
  end(): void {
    this.#isOver = true;
    this.#valve?.dispose();
    this.#valve = undefined;
  }
}
