// Shells that wait ahead of their commands, all sessions together: each is a process with its memory and descriptors, and
// thousands of sessions do not need theirs at once. Those whose sessions ran a command last are kept.
import { warmShellsMax } from "../limits.ts";

export interface SpareHolder {
  dropSpare(): Promise<void>;
}

export class SpareShells {
  /** In the order of their last use, as a Set keeps them. */
  readonly #holders = new Set<SpareHolder>();

  /** A new session may never run anything: it takes the place of no other. */
  get hasRoom(): boolean {
    return this.#holders.size < warmShellsMax;
  }

  /** Who has just run a command is likely to run another. */
  hold(holder: SpareHolder): void {
    this.#holders.delete(holder);
    this.#holders.add(holder);
    if (this.#holders.size <= warmShellsMax) return;
    const [longestUnused] = this.#holders;
    this.release(longestUnused!);
    void longestUnused!.dropSpare();
  }

  release(holder: SpareHolder): void {
    this.#holders.delete(holder);
  }
}
