// Limits the warm shells of all sessions: how many there are, which one is dropped for another, and when one is started.
// Under load none is started: it would take a processor from a running command.
import { availableParallelism } from "node:os";
import { loadAgeMs, warmShellDelayMs, warmShells } from "../../core/limits.ts";
import { descriptorLimit, memoryLimit } from "../../platform/own-process.ts";

export interface WarmShellHolder {
  dropShell(): Promise<void>;
  /** Starts the shell that was postponed. */
  startWithState(): void;
}

export class WarmShellPool {
  /** In the order of their last use, which is the order of a Set. */
  readonly #holders = new Set<WarmShellHolder>();
  /** Start times of running commands by session, oldest first. */
  readonly #running = new Map<WarmShellHolder, number>();
  /** Sessions with a shell that starts when the load is over, in the order of their last command. */
  readonly #postponed = new Set<WarmShellHolder>();
  #timer: Timer | undefined;

  constructor(
    readonly max = warmShellsMax(),
    readonly processors = availableParallelism(),
    readonly now: () => number = () => performance.now(),
  ) {}

  /** Whether one more shell fits. A new session drops no other session's shell, as it may never run a command. */
  get hasCapacity(): boolean {
    return this.#holders.size < this.max;
  }

  /** As many commands run as there are processors. A command that runs for long does not count: it mostly waits. */
  get isUnderLoad(): boolean {
    const oldest = this.now() - loadAgeMs;
    for (const [holder, began] of this.#running) {
      if (began > oldest) break;
      this.#running.delete(holder);
    }
    return this.#running.size >= this.processors;
  }

  began(holder: WarmShellHolder): void {
    this.#postponed.delete(holder);
    this.#running.delete(holder);
    this.#running.set(holder, this.now());
  }

  ended(holder: WarmShellHolder): void {
    this.#running.delete(holder);
  }

  /** Calls the holder's `startWithState` once the load is over. */
  postpone(holder: WarmShellHolder): void {
    this.#postponed.delete(holder);
    this.#postponed.add(holder);
    this.#timer ??= setTimeout(() => this.#startNext(), warmShellDelayMs);
  }

  /** Counts the holder's shell as the most recently used one, and drops the least recently used one beyond the limit. */
  hold(holder: WarmShellHolder): void {
    this.#holders.delete(holder);
    this.#holders.add(holder);
    if (this.#holders.size <= this.max) return;
    const [longestUnused] = this.#holders;
    this.release(longestUnused!);
    void longestUnused!.dropShell();
  }

  release(holder: WarmShellHolder): void {
    this.#holders.delete(holder);
    this.#postponed.delete(holder);
  }

  /** Starts one shell at a time, so that it delays no command, and none beyond the limit. */
  #startNext(): void {
    this.#timer = undefined;
    if (!this.hasCapacity) this.#postponed.clear();
    const [next] = this.#postponed;
    if (!next) return;
    if (!this.isUnderLoad) {
      this.#postponed.delete(next);
      next.startWithState();
    }
    if (this.#postponed.size > 0) this.#timer = setTimeout(() => this.#startNext(), warmShellDelayMs);
  }
}

function warmShellsMax(): number {
  const { memoryPart, bytesEach, descriptorsPart, descriptorsEach, max } = warmShells;
  const byMemory = (memoryLimit() * memoryPart) / bytesEach;
  const byDescriptors = (descriptorLimit() * descriptorsPart) / descriptorsEach;
  return Math.max(1, Math.floor(Math.min(byMemory, byDescriptors, max)));
}
