// Those who watch a terminal.
import type { TerminalSize } from "./driver.ts";

export interface TerminalListener {
  /** Shows the output to somebody, and answers the program's questions to its terminal. */
  readonly isDisplay: boolean;
  printed(): void;
  resized(size: TerminalSize): void;
  exited(): void;
}

export class Audience {
  readonly #listeners = new Set<TerminalListener>();

  get size(): number {
    return this.#listeners.size;
  }

  get displayCount(): number {
    let count = 0;
    for (const { isDisplay } of this.#listeners) if (isDisplay) count++;
    return count;
  }

  add(listener: TerminalListener): void {
    this.#listeners.add(listener);
  }

  remove(listener: TerminalListener): void {
    this.#listeners.delete(listener);
  }

  printed(): void {
    for (const listener of this.#listeners) listener.printed();
  }

  resized(size: TerminalSize): void {
    for (const listener of this.#listeners) listener.resized(size);
  }

  /** They leave at this. */
  exited(): void {
    for (const listener of [...this.#listeners]) listener.exited();
  }
}
