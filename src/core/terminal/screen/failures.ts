// Failures of one screen's reading: decides about backoff, retry and quarantine.
import { screenBackoffMaxMs, screenBackoffMs } from "../../limits.ts";

/** After so many crashes of the screen process in a row during one screen's work, that screen is the cause. */
const lossesMax = 3;

/** Ordinary work takes some milliseconds; so many slow pieces in a row are no coincidence. */
const slowWorkMs = 100;
const slowMax = 3;

export class ReadFailures {
  /** Why the screen is incomplete, as clients see it. */
  error: string | undefined;
  #losses = 0;
  #budgetExceeded = 0;
  #pausedUntil = 0;

  /** Why reading is paused. */
  reason = "";
  #slowInARow = 0;
  #isSlow = false;

  /** Has exceeded its budget, or is slow repeatedly: the quarantine process reads it, where it delays no other screen. */
  get isSuspect(): boolean {
    return this.#budgetExceeded > 0 || this.#isSlow;
  }

  get isPaused(): boolean {
    return this.#pausedUntil > 0 && performance.now() < this.#pausedUntil;
  }

  /** A piece of work succeeded. True if the screen became suspect by it. */
  wentWell(busyMs: number): boolean {
    this.#losses = 0;
    this.#slowInARow = busyMs > slowWorkMs ? this.#slowInARow + 1 : 0;
    if (this.isSuspect || this.#slowInARow < slowMax) return false;
    this.#isSlow = true;
    return true;
  }

  /** The screen process could not be started. */
  unavailable(message: string): void {
    this.reason = `the screen could not be read: ${message}`;
    this.#pausedUntil = performance.now() + screenBackoffMs;
  }

  get pauseMs(): number {
    return Math.max(0, this.#pausedUntil - performance.now());
  }

  /** The screen process crashed. True if this screen is the likely cause. */
  lostProcess(): boolean {
    return ++this.#losses >= lossesMax;
  }

  overBudget(message: string, offset: number): void {
    this.error = `the screen could not be read: ${message}; it shows what was printed after byte ${offset}`;
    this.reason = this.error;
    const pauseMs = Math.min(screenBackoffMaxMs, screenBackoffMs * 2 ** this.#budgetExceeded);
    this.#pausedUntil = performance.now() + pauseMs;
    this.#budgetExceeded++;
    this.#losses = 0;
  }

  /** Output before the offset was overwritten before it was read. */
  lostOutput(offset: number): void {
    this.error = `the screen shows what was printed after byte ${offset}; earlier output was overwritten unread`;
  }
}
