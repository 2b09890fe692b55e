// The listeners of a terminal.
import type { TerminalSize } from "./drivers/driver.ts";

export interface TerminalListener {
  /** Shows the output to somebody, and answers the program's questions to its terminal. */
  readonly isDisplay: boolean;
  printed(): void;
  resized(size: TerminalSize): void;
  /** At the end of the program, and again when everything that it started is dead. */
  exited(): void;
}

export class Subscribers {
  readonly #listeners = new Set<TerminalListener>();
  #displayCount = 0;

  get size(): number {
    return this.#listeners.size;
  }

  /** Asked for with everything that is printed. */
  get displayCount(): number {
    return this.#displayCount;
  }

  add(listener: TerminalListener): void {
    this.#listeners.add(listener);
    this.#countDisplays();
  }

  remove(listener: TerminalListener): void {
    this.#listeners.delete(listener);
    this.#countDisplays();
  }

  #countDisplays(): void {
    this.#displayCount = [...this.#listeners].filter(({ isDisplay }) => isDisplay).length;
  }

  printed(): void {
    for (const listener of this.#listeners) listener.printed();
  }

  resized(size: TerminalSize): void {
    for (const listener of this.#listeners) listener.resized(size);
  }

  exited(): void {
    for (const listener of [...this.#listeners]) listener.exited();
  }
}
