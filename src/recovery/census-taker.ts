// When the processes in custody are noted: now and then, when a command has left some, and often while a command or a
// terminal is young. A process that clears its environment and leaves its parents does so at the beginning; where it has
// no mark either, it is known by the journal alone.
import { cleanupIntervalMs, youngCensusMs } from "../core/limits.ts";
import type { ProcessOwnership } from "../core/process/ownership.ts";
import type { Journal } from "./journal.ts";
import { hasEnded } from "./record.ts";

export class CensusTaker {
  #youngUntil = 0;
  #often: Timer | undefined;

  constructor(
    readonly ownership: ProcessOwnership,
    readonly journal: Journal | undefined,
  ) {
    // Elsewhere to look at a process is to start a program.
    if (!ownership.adoptsOrphans || !journal) return;
    journal.onRecord = (record) => {
      if (!hasEnded(record)) this.#begun();
      else if (ownership.adoptedCount > 0) this.note();
    };
  }

  /** To be called now and then. */
  take(): void {
    this.ownership.adoptAndReap();
    this.note();
  }

  note(): void {
    if (this.ownership.adoptsOrphans) this.journal?.tend(this.ownership.pids());
  }

  close(): void {
    clearInterval(this.#often);
    this.#often = undefined;
    if (this.journal) this.journal.onRecord = () => {};
  }

  /** Until it is older than two of the usual looks are apart. */
  #begun(): void {
    this.#youngUntil = performance.now() + 2 * cleanupIntervalMs;
    this.#often ??= setInterval(() => {
      this.take();
      if (performance.now() < this.#youngUntil) return;
      clearInterval(this.#often);
      this.#often = undefined;
    }, youngCensusMs);
  }
}
