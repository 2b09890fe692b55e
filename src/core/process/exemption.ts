// What the daemon starts for itself, such as a link to another runtime, is no session's, wherever it goes.
import { type ProcessEntry, processTable } from "./process-table.ts";

export class Exemption {
  /** For its environment. The value is nobody else's to know. */
  readonly env = { TRL_EXEMPT: crypto.randomUUID() };
  /** Whatever a session starts is in a process session of its own: who is in ours, the daemon started for itself. */
  readonly #ownSid = processTable.entry(process.pid)?.sid;

  covers({ pid, sid, isZombie }: ProcessEntry): boolean {
    if (sid === this.#ownSid) return true;
    return !isZombie && processTable.environmentOf(pid, ["TRL_EXEMPT"])["TRL_EXEMPT"] === this.env.TRL_EXEMPT;
  }
}
