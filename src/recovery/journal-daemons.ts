// The journal's list of daemons: its writer, then the killed daemons before it. Each has its start time, so that a
// daemon that still runs is recognized even if its socket and its pid file were removed.
import { processTable } from "../platform/process-table.ts";

export interface JournaledDaemon {
  pid: number;
  /** Undefined if only the pid file named this daemon. */
  startTime: string | undefined;
}

/** The line of the journal for this process and its predecessors. */
export function daemonsLine(predecessors: readonly JournaledDaemon[]): object {
  const self = { pid: process.pid, startTime: processTable.entry(process.pid)?.startTime };
  const all = [self, ...predecessors];
  return {
    daemons: all.map(({ pid }) => pid),
    starts: all.map(({ startTime }) => startTime ?? null),
  };
}

/** Undefined if the line is no list of daemons. */
export function daemonsFrom(value: object): JournaledDaemon[] | undefined {
  const { daemons, starts } = value as { daemons?: unknown; starts?: unknown };
  if (!Array.isArray(daemons)) return undefined;
  return daemons.flatMap((pid, index) => {
    const start: unknown = Array.isArray(starts) ? starts[index] : undefined;
    const startTime = typeof start === "string" ? start : undefined;
    return Number.isSafeInteger(pid) && pid > 1 ? [{ pid, startTime }] : [];
  });
}

/** Without a start time any process with the pid counts as the daemon: a running daemon's processes must stay untouched. */
export function isRunning({ pid, startTime }: JournaledDaemon): boolean {
  if (pid === process.pid) return false; // the pid was reused for this process
  const now = processTable.entry(pid);
  return now !== undefined && !now.isZombie && (startTime ?? now.startTime) === now.startTime;
}
