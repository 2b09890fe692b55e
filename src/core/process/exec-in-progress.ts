// Recognises processes in the middle of execve, when the old environment with its tags is gone and the new one is not
// readable yet. On a busy machine that takes a while, and a decision by the missing tags would leave them without an owner.
import { type ProcessEntry, processTable } from "../../platform/process-table.ts";

/** Longer than execve takes on any busy machine. A process that has erased its arguments and environment looks the same. */
const execMaxMs = 2000;

export class ExecInProgress {
  readonly #since = new Map<number, { startTime: ProcessEntry["startTime"]; since: number }>();

  covers({ pid, startTime }: ProcessEntry): boolean {
    if (!processTable.isMidExec(pid)) {
      this.#since.delete(pid);
      return false;
    }
    const seen = this.#since.get(pid);
    if (seen?.startTime === startTime) return performance.now() - seen.since < execMaxMs;
    this.#since.set(pid, { startTime, since: performance.now() });
    return true;
  }
}
