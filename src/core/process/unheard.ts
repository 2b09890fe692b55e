// Who has not heard a signal that was sent to everybody. A shell forks with the signal blocked, or takes it with a
// handler that makes a note for later: a child that becomes another program in that moment knows nothing of it.
// Nobody is told twice who may have acted on it: a second SIGTERM means "at once" to many programs, and the
// commands of a trap were started because of the first. A child that a shell with a trap makes just after the
// signal looks like one of those, and has the whole grace.
import { type ProcessEntry, processTable, type Stance } from "./process-table.ts";

interface Seen extends Stance {
  entry: ProcessEntry;
  /** Not yet a program of its own. */
  wasFork: boolean;
}

export class Unheard {
  /** As they were just before the signal. */
  readonly members: ProcessEntry[];
  readonly #seen = new Map<number, Seen>();
  /** Children that were being made when it was sent, by those who had it blocked for that. */
  readonly #beingMade = new Set<number>();
  /** Who came after the one and not after the other was made before the signal, and is too young to be in the list. */
  readonly #newestListed: number;
  readonly #newestBefore: number;

  constructor(
    readonly signal: NodeJS.Signals,
    list: () => ProcessEntry[],
  ) {
    this.#newestListed = processTable.newestPid();
    this.members = list();
    const images = new Map(this.members.map(({ pid, image }) => [pid, image]));
    for (const entry of this.members) {
      const stance = processTable.stanceOf(entry.pid, signal);
      if (!stance) continue;
      const wasFork = entry.image !== undefined && entry.image === images.get(entry.ppid);
      this.#seen.set(entry.pid, { entry, wasFork, ...stance });
    }
    this.#newestBefore = processTable.newestPid();
  }

  /** Sends it, and looks at once who could not take it. */
  send(toAll: (members: ProcessEntry[], signal: NodeJS.Signals) => void): void {
    toAll(this.members, this.signal);
    for (const [pid, before] of this.#seen) {
      if (before.isDefault) continue;
      const now = processTable.stanceOf(pid, this.signal);
      if (!before.isBlocked && !(now?.isBlocked && now.isPending)) continue;
      const made = processTable.childrenOf(pid).findLast((child) => this.#seen.get(child)?.wasFork ?? true);
      if (made !== undefined) this.#beingMade.add(made);
    }
  }

  /** Those who live although it is the end of whoever hears it and has made no other arrangement. */
  among(members: ProcessEntry[]): ProcessEntry[] {
    return members.filter((member) => {
      if (!this.#mayHaveMissedIt(member)) return false;
      const stance = processTable.stanceOf(member.pid, this.signal);
      return stance?.isDefault === true && !stance.isPending;
    });
  }

  #mayHaveMissedIt({ pid, ppid, startTime, image }: ProcessEntry): boolean {
    const seen = this.#seen.get(pid);
    if (seen?.entry.startTime === startTime)
      return seen.isDefault || (seen.wasFork && seen.entry.image !== image);
    if (pid <= this.#newestListed) return false;
    const isOrphan = ppid === process.pid; // whoever runs a trap waits for its commands
    return pid <= this.#newestBefore || this.#beingMade.has(pid) || isOrphan;
  }
}
