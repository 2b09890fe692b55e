// What went wrong with the reading of one screen, and when it is tried again.
import { screenBackoffMaxMs, screenBackoffMs } from "../../limits.ts";

/** A process that ends so many times in a row while it reads one screen ends because of it. */
const lossesMax = 3;

export class Trouble {
  /** Why the screen is not what it should be. */
  error: string | undefined;
  #losses = 0;
  #offences = 0;
  #pausedUntil = 0;

  /** Has been over its budget. */
  get isSuspect(): boolean {
    return this.#offences > 0;
  }

  get isPaused(): boolean {
    return this.#pausedUntil > 0 && performance.now() < this.#pausedUntil;
  }

  /** Something was read. */
  wentWell(): void {
    this.#losses = 0;
  }

  /** The process has ended. True where this screen is the likely cause. */
  lostProcess(): boolean {
    return ++this.#losses >= lossesMax;
  }

  overBudget(message: string, offset: number): void {
    this.error = `the screen could not be read: ${message}; it shows what was printed behind byte ${offset}`;
    const pauseMs = Math.min(screenBackoffMaxMs, screenBackoffMs * 2 ** this.#offences);
    this.#pausedUntil = performance.now() + pauseMs;
    this.#offences++;
    this.#losses = 0;
  }

  leftOut(offset: number): void {
    this.error = `the screen was made from the output behind byte ${offset}, without what was before it`;
  }
}
