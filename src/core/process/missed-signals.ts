// Who has not heard a signal that was sent to everybody. A shell forks with the signal blocked, or takes it with a
// handler that makes a note for later: a child that becomes another program in that moment knows nothing of it.
// Nobody is told twice who may have acted on it: a second SIGTERM means "at once" to many programs, and the
// commands of a trap were started because of the first. A child that a shell with a trap makes just after the
// signal looks like one of those, and has the whole grace.

import { type ProcessEntry, processTable, type Stance } from "../../platform/process-table.ts";
import type { Look } from "./ownership.ts";
import { signalAll } from "./signal-all.ts";
import type { Steps } from "./time-slicer.ts";

interface Seen extends Stance {
  entry: ProcessEntry;
  /** Not yet a program of its own. */
  wasFork: boolean;
}

export class Unheard {
  readonly #seen = new Map<number, Seen>();
  /** Children that were being made when it was sent, by those who had it blocked for that. */
  readonly #beingMade = new Set<number>();
  /** Who came after the one and not after the other was made before the signal, and is too young to be in the list. */
  #newestListed = 0;
  #newestBefore = 0;

  constructor(readonly signal: NodeJS.Signals) {}

  /** Sends it to all that `find` finds, and looks at once who could not take it. */
  *send(find: Steps<Look>): Steps<void> {
    this.#newestListed = processTable.newestPid();
    const { members } = yield* find;
    const images = new Map(members.map(({ pid, image }) => [pid, image]));
    for (const entry of members) {
      yield;
      const stance = processTable.stanceOf(entry.pid, this.signal);
      if (!stance) continue;
      const wasFork = entry.image !== undefined && entry.image === images.get(entry.ppid);
      this.#seen.set(entry.pid, { entry, wasFork, ...stance });
    }
    this.#newestBefore = processTable.newestPid();
    yield* signalAll(members, this.signal);
    for (const [pid, before] of this.#seen) {
      if (before.isDefault) continue;
      yield;
      const now = processTable.stanceOf(pid, this.signal);
      if (!before.isBlocked && !(now?.isBlocked && now.isPending)) continue;
      const made = processTable.childrenOf(pid).findLast((child) => this.#seen.get(child)?.wasFork ?? true);
      if (made !== undefined) this.#beingMade.add(made);
    }
  }

  /** Those who live although it is the end of whoever hears it and has made no other arrangement. */
  *among(members: ProcessEntry[]): Steps<ProcessEntry[]> {
    const unheard: ProcessEntry[] = [];
    for (const member of members) {
      if (!this.#mayHaveMissedIt(member)) continue;
      const stance = processTable.stanceOf(member.pid, this.signal);
      if (stance?.isDefault && !stance.isPending) unheard.push(member);
      yield;
    }
    return unheard;
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
