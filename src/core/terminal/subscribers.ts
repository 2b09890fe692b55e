// The subscribers of one terminal.
import type { TerminalSize } from "./drivers/driver.ts";

export interface TerminalListener {
  /** Displays the output in a terminal, which also replies to the program's terminal queries. */
  readonly isDisplay: boolean;
  printed(): void;
  resized(size: TerminalSize): void;
  /** Called when the program has exited, and again when all processes it started have ended. */
  exited(): void;
}

export class Subscribers {
  readonly #listeners = new Set<TerminalListener>();
  /** Cached, as it is read for each chunk of output. */
  #displayCount = 0;

  get size(): number {
    return this.#listeners.size;
  }

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
