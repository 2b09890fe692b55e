// Warm shells of all sessions together: how many there may be, whose is dropped for another, and when one is started
// ahead. Under load none is: it would take a processor from a command that runs.

import { availableParallelism } from "node:os";
import { descriptorLimit, memoryLimit } from "../../../platform/own-process.ts";
import { loadAgeMs, warmShellDelayMs, warmShells } from "../../limits.ts";

export interface WarmShellHolder {
  dropShell(): Promise<void>;
  /** A processor is free for what was put off. */
  prepareWithState(): void;
}

export class WarmShellPool {
  /** In the order of their last use, as a Set keeps them. */
  readonly #holders = new Set<WarmShellHolder>();
  /** Sessions whose command runs, in the order in which the commands began, and when. */
  readonly #running = new Map<WarmShellHolder, number>();
  /** Sessions that are to have a shell when there is no load, in the order of their last command. */
  readonly #putOff = new Set<WarmShellHolder>();
  #timer: Timer | undefined;

  constructor(
    readonly max = warmShellsMax(),
    readonly processors = availableParallelism(),
    readonly now: () => number = () => performance.now(),
  ) {}

  /** A new session may never run anything: it takes the place of no other. */
  get hasRoom(): boolean {
    return this.#holders.size < this.max;
  }

  /** As many commands run as there are processors. One that has run for long is left out: it rather waits. */
  get isUnderLoad(): boolean {
    const oldest = this.now() - loadAgeMs;
    for (const [holder, began] of this.#running) {
      if (began > oldest) break;
      this.#running.delete(holder);
    }
    return this.#running.size >= this.processors;
  }

  began(holder: WarmShellHolder): void {
    this.#putOff.delete(holder);
    this.#running.delete(holder);
    this.#running.set(holder, this.now());
  }

  ended(holder: WarmShellHolder): void {
    this.#running.delete(holder);
  }

  /** Calls the holder's `prepareWithState` once the load is over. */
  putOff(holder: WarmShellHolder): void {
    this.#putOff.delete(holder);
    this.#putOff.add(holder);
    this.#timer ??= setTimeout(() => this.#prepareNext(), warmShellDelayMs);
  }

  /** A session that has just run a command is likely to run another. */
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
    this.#putOff.delete(holder);
  }

  /** One at a time, so that a command that comes meanwhile is not held up; none in the place of another. */
  #prepareNext(): void {
    this.#timer = undefined;
    if (!this.hasRoom) this.#putOff.clear();
    const [next] = this.#putOff;
    if (!next) return;
    if (!this.isUnderLoad) {
      this.#putOff.delete(next);
      next.prepareWithState();
    }
    if (this.#putOff.size > 0) this.#timer = setTimeout(() => this.#prepareNext(), warmShellDelayMs);
  }
}

function warmShellsMax(): number {
  const { memoryPart, bytesEach, descriptorsPart, descriptorsEach, max } = warmShells;
  const byMemory = (memoryLimit() * memoryPart) / bytesEach;
  const byDescriptors = (descriptorLimit() * descriptorsPart) / descriptorsEach;
  return Math.max(1, Math.floor(Math.min(byMemory, byDescriptors, max)));
}
