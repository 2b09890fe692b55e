// What the daemon starts for itself, such as a link to another runtime, is no session's, wherever it goes.
import { type ProcessEntry, processTable } from "../../platform/process-table.ts";

/** A dead child of ours whose status nobody has taken for so long was left by one that we had started. */
const forgottenMs = 500;

export class Exemption {
  /** For its environment. The value is nobody else's to know. */
  readonly env: { TRL_EXEMPT: string };
  /** Whatever a session starts is in a process session of its own: who is in ours, the daemon started for itself. */
  readonly #ownSid = processTable.entry(process.pid)?.sid;

  /** Dead ones in our session, and when they were met: whoever started one takes its status at once, or nobody does. */
  readonly #dead = new Map<number, { startTime: ProcessEntry["startTime"]; since: number }>();

  /** What a program that has become this one has started is exempt as well. */
  constructor(word: string = crypto.randomUUID()) {
    this.env = { TRL_EXEMPT: word };
  }

  covers(entry: ProcessEntry): boolean {
    const { pid, sid, isZombie } = entry;
    if (sid === this.#ownSid) return !isZombie || !this.#isForgotten(entry);
    return !isZombie && processTable.environmentOf(pid, ["TRL_EXEMPT"])["TRL_EXEMPT"] === this.env.TRL_EXEMPT;
  }

  #isForgotten({ pid, startTime }: ProcessEntry): boolean {
    const met = this.#dead.get(pid);
    if (met?.startTime !== startTime) this.#dead.set(pid, { startTime, since: performance.now() });
    else if (performance.now() - met.since > forgottenMs) return this.#dead.delete(pid);
    return false;
  }
}
