// The daemons that a journal speaks of: its own and those that were killed before it. Each with its start, so that one
// that lives is known, also where its socket and its pid file were taken from it.
import { processTable } from "../platform/process-table.ts";

export interface NotedDaemon {
  pid: number;
  /** Undefined where only its pid file spoke of it. */
  startTime: string | undefined;
}

/** A line of the journal. */
export function noteOf(predecessors: readonly NotedDaemon[]): object {
  const self = { pid: process.pid, startTime: processTable.entry(process.pid)?.startTime };
  const all = [self, ...predecessors];
  return {
    daemons: all.map(({ pid }) => pid),
    starts: all.map(({ startTime }) => startTime ?? null),
  };
}

export function daemonsFrom(value: object): NotedDaemon[] | undefined {
  const { daemons, starts } = value as { daemons?: unknown; starts?: unknown };
  if (!Array.isArray(daemons)) return undefined;
  return daemons.flatMap((pid, index) => {
    const start: unknown = Array.isArray(starts) ? starts[index] : undefined;
    const startTime = typeof start === "string" ? start : undefined;
    return Number.isSafeInteger(pid) && pid > 1 ? [{ pid, startTime }] : [];
  });
}

/** Where its start is not known, whoever has its pid is taken for it: nothing of one that lives is to be touched. */
export function isLiving({ pid, startTime }: NotedDaemon): boolean {
  if (pid === process.pid) return false; // ours by now
  const now = processTable.entry(pid);
  return now !== undefined && !now.isZombie && (startTime ?? now.startTime) === now.startTime;
}
