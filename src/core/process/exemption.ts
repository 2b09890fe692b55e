// Exempts processes that the daemon starts for itself, such as a link to another runtime, from belonging to a session.
import { type ProcessEntry, processTable } from "../../platform/process-table.ts";

/** A zombie child is reaped by the code that started it right away. After this time it is an orphan of such a child. */
const reapedWithinMs = 500;

export class Exemption {
  /** For the environment of an exempt process. The value is a secret of the daemon. */
  readonly env: { TRL_EXEMPT: string };
  /** Sessions start their processes with setsid, so a process in the daemon's own process session is exempt. */
  readonly #ownSid = processTable.entry(process.pid)?.sid;
  /** Zombies in the daemon's process session, and when each was first seen. */
  readonly #zombies = new Map<number, { startTime: ProcessEntry["startTime"]; since: number }>();

  /** After an upgrade the token of the previous program stays valid for what it started. */
  constructor(token: string = crypto.randomUUID()) {
    this.env = { TRL_EXEMPT: token };
  }

  covers(entry: ProcessEntry): boolean {
    const { pid, sid, isZombie } = entry;
    if (sid === this.#ownSid) return !isZombie || !this.#isUnreaped(entry);
    return !isZombie && processTable.environmentOf(pid, ["TRL_EXEMPT"])["TRL_EXEMPT"] === this.env.TRL_EXEMPT;
  }

  #isUnreaped({ pid, startTime }: ProcessEntry): boolean {
    const seen = this.#zombies.get(pid);
    if (seen?.startTime !== startTime) this.#zombies.set(pid, { startTime, since: performance.now() });
    else if (performance.now() - seen.since > reapedWithinMs) return this.#zombies.delete(pid);
    return false;
  }
}
