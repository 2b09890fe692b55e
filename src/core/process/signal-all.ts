// One signal to many processes.
import { isSame, type ProcessEntry, sendSignal, signalProcess } from "../../platform/process-table.ts";
import type { Steps } from "./time-slicer.ts";

/** They ask for an end, and a stopped process would not hear them. */
const wakening: NodeJS.Signals[] = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"];

/** Each group as a whole, so that nothing forks away between two signals, then what is outside of such a group. */
export function* signalAll(members: ProcessEntry[], signal: NodeJS.Signals): Steps<void> {
  const leaders = new Set<number>();
  for (const member of members) {
    if (member.pid !== member.pgid || !isSame(member)) continue;
    leaders.add(member.pid);
    sendSignal(-member.pid, signal);
    if (wakening.includes(signal)) sendSignal(-member.pid, "SIGCONT");
    yield;
  }
  for (const member of members) {
    if (leaders.has(member.pgid)) continue;
    signalProcess(member, signal);
    yield;
  }
}
