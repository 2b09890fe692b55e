// Finds processes that missed a signal sent to all of a tree. A shell forks with the signal blocked, or catches it with a
// handler that only sets a flag: a child that calls exec at that time never sees the signal.
// A process that may have handled the signal does not get it twice: many programs take a second SIGTERM for "at once",
// and the commands of a trap run because of the first. A child that a shell with a trap forks right after the signal looks
// like such a command, and has the whole grace period.

import { type ProcessEntry, processTable, type SignalDisposition } from "../../platform/process-table.ts";
import type { Scan } from "./ownership.ts";
import { signalAll } from "./signal-all.ts";
import type { Steps } from "./time-slicer.ts";

interface Target extends SignalDisposition {
  entry: ProcessEntry;
  /** It had forked and not yet called exec. */
  wasFork: boolean;
}

export class MissedSignals {
  readonly #targets = new Map<number, Target>();
  /** Children that were being forked when the signal was sent, by parents that had blocked it. */
  readonly #beingForked = new Set<number>();
  /** A process with a pid between the two was started before the signal, but is too young to be in the scan. */
  #newestBeforeScan = 0;
  #newestBeforeSignal = 0;

  constructor(readonly signal: NodeJS.Signals) {}

  /** Signals all processes of the scan, and records those that could not handle it. */
  *send(scan: Steps<Scan>): Steps<void> {
    this.#newestBeforeScan = processTable.newestPid();
    const { members } = yield* scan;
    const execIds = new Map(members.map(({ pid, execId }) => [pid, execId]));
    for (const entry of members) {
      yield;
      const disposition = processTable.signalDisposition(entry.pid, this.signal);
      if (!disposition) continue;
      const wasFork = entry.execId !== undefined && entry.execId === execIds.get(entry.ppid);
      this.#targets.set(entry.pid, { entry, wasFork, ...disposition });
    }
    this.#newestBeforeSignal = processTable.newestPid();
    yield* signalAll(members, this.signal);
    for (const [pid, before] of this.#targets) {
      if (before.isDefault) continue;
      yield;
      const now = processTable.signalDisposition(pid, this.signal);
      if (!before.isBlocked && !(now?.isBlocked && now.isPending)) continue;
      const child = processTable.childrenOf(pid).findLast((it) => this.#targets.get(it)?.wasFork ?? true);
      if (child !== undefined) this.#beingForked.add(child);
    }
  }

  /** Members that are alive although the signal would have ended them. */
  *among(members: ProcessEntry[]): Steps<ProcessEntry[]> {
    const missed: ProcessEntry[] = [];
    for (const member of members) {
      if (!this.#mayHaveMissed(member)) continue;
      const disposition = processTable.signalDisposition(member.pid, this.signal);
      if (disposition?.isDefault && !disposition.isPending) missed.push(member);
      yield;
    }
    return missed;
  }

  #mayHaveMissed({ pid, ppid, startTime, execId }: ProcessEntry): boolean {
    const target = this.#targets.get(pid);
    if (target?.entry.startTime === startTime)
      return target.isDefault || (target.wasFork && target.entry.execId !== execId);
    if (pid <= this.#newestBeforeScan) return false;
    const isOrphan = ppid === process.pid; // a shell waits for the commands of its trap, so it is not one of them
    return pid <= this.#newestBeforeSignal || this.#beingForked.has(pid) || isOrphan;
  }
}
