// What went wrong with the reading of one screen, and when it is tried again.
import { screenBackoffMaxMs, screenBackoffMs } from "../../limits.ts";

/** A process that ends so many times in a row while it reads one screen ends because of it. */
const lossesMax = 3;

/** An ordinary piece takes some milliseconds; so many in a row that take longer are no chance. */
const slowWorkMs = 100;
const slowMax = 3;

export class ReadFailures {
  /** Why the screen is not what it should be. */
  error: string | undefined;
  #losses = 0;
  #offences = 0;
  #pausedUntil = 0;

  /** Why it is paused. */
  reason = "";
  #slowInARow = 0;
  #isSlow = false;

  /** Has been over its budget, or takes long again and again: it is read where it cannot delay others. */
  get isSuspect(): boolean {
    return this.#offences > 0 || this.#isSlow;
  }

  get isPaused(): boolean {
    return this.#pausedUntil > 0 && performance.now() < this.#pausedUntil;
  }

  /** Something was read. True where it has just turned out to be slow. */
  wentWell(busyMs: number): boolean {
    this.#losses = 0;
    this.#slowInARow = busyMs > slowWorkMs ? this.#slowInARow + 1 : 0;
    if (this.isSuspect || this.#slowInARow < slowMax) return false;
    this.#isSlow = true;
    return true;
  }

  /** No process can be started just now. */
  unavailable(message: string): void {
    this.reason = `the screen could not be read: ${message}`;
    this.#pausedUntil = performance.now() + screenBackoffMs;
  }

  get pauseMs(): number {
    return Math.max(0, this.#pausedUntil - performance.now());
  }

  /** The process has ended. True where this screen is the likely cause. */
  lostProcess(): boolean {
    return ++this.#losses >= lossesMax;
  }

  overBudget(message: string, offset: number): void {
    this.error = `the screen could not be read: ${message}; it shows what was printed behind byte ${offset}`;
    this.reason = this.error;
    const pauseMs = Math.min(screenBackoffMaxMs, screenBackoffMs * 2 ** this.#offences);
    this.#pausedUntil = performance.now() + pauseMs;
    this.#offences++;
    this.#losses = 0;
  }

  leftOut(offset: number): void {
    this.error = `the screen was made from the output behind byte ${offset}, without what was before it`;
  }
}
