// One that is about to become another program (execve) cannot be told for a moment: the old environment is gone, and the
// new one is not there yet. On a busy machine that moment may last, and who was judged by it would belong to nobody.
import { type ProcessEntry, processTable } from "../../platform/process-table.ts";

/** Longer than any machine is that busy; one that has neither words nor variables may as well have removed them. */
const execInProgressMs = 2000;

export class ExecInProgress {
  readonly #since = new Map<number, { startTime: ProcessEntry["startTime"]; since: number }>();

  covers({ pid, startTime }: ProcessEntry): boolean {
    if (!processTable.isBlank(pid)) {
      this.#since.delete(pid);
      return false;
    }
    const met = this.#since.get(pid);
    if (met?.startTime === startTime) return performance.now() - met.since < execInProgressMs;
    this.#since.set(pid, { startTime, since: performance.now() });
    return true;
  }
}
