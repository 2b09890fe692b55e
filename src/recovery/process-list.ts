// The journal's list of owned processes. Each has its start time, because the kernel reuses pids.
import { type ProcessEntry, processTable } from "../platform/process-table.ts";

export type JournaledProcess = Pick<ProcessEntry, "pid" | "startTime">;

/** The list is cut off here; recovery finds the other processes by their tags. */
const listedMax = 1000;

export class ProcessList {
  #startTimes = new Map<number, string>();
  /** Leftover processes of killed daemons, until they have ended. */
  inherited: readonly JournaledProcess[] = [];

  /** Returns whether the list has changed. Reads the start times of new pids only. */
  update(pids: number[]): boolean {
    const known = this.#startTimes;
    const startTimes = new Map<number, string>();
    for (const pid of pids.slice(0, listedMax)) {
      const startTime = known.get(pid) ?? processTable.entry(pid)?.startTime;
      if (startTime !== undefined) startTimes.set(pid, startTime);
    }
    this.#startTimes = startTimes;
    return startTimes.size !== known.size || [...startTimes.keys()].some((pid) => !known.has(pid));
  }

  toJSON(): object {
    const inherited = this.inherited.map(({ pid, startTime }) => [pid, startTime]);
    return { world: processTable.pidScope(), processes: [...this.#startTimes, ...inherited] };
  }
}

/** Undefined if the line is no process list; empty if the list is from another boot or pid namespace. */
export function processesFrom(value: object): JournaledProcess[] | undefined {
  const { world, processes } = value as { world?: unknown; processes?: unknown };
  if (!Array.isArray(processes)) return undefined;
  if (world !== processTable.pidScope()) return [];
  return processes.flatMap((process: unknown) => {
    const [pid, startTime] = Array.isArray(process) ? process : [];
    return Number.isSafeInteger(pid) && typeof startTime === "string" ? [{ pid, startTime }] : [];
  });
}
