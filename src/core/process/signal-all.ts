// Sends one signal to many processes.
import { isSameProcess, type ProcessEntry, sendSignal, signalProcess } from "../../platform/process-table.ts";
import type { Steps } from "./time-slicer.ts";

/** These ask a process to end. A stopped process handles them only after SIGCONT. */
const endingSignals: NodeJS.Signals[] = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"];

/** Each group as a whole, so that no member forks away between two signals, then the processes outside of these groups. */
export function* signalAll(members: ProcessEntry[], signal: NodeJS.Signals): Steps<void> {
  const leaders = new Set<number>();
  for (const member of members) {
    if (member.pid !== member.pgid || !isSameProcess(member)) continue;
    leaders.add(member.pid);
    sendSignal(-member.pid, signal);
    if (endingSignals.includes(signal)) sendSignal(-member.pid, "SIGCONT");
    yield;
  }
  for (const member of members) {
    if (leaders.has(member.pgid)) continue;
    signalProcess(member, signal);
    yield;
  }
}
