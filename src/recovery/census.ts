// The processes in custody, each with its start: a pid alone may be another's by the time it is read.
import { type ProcessEntry, processTable } from "../platform/process-table.ts";

export type NotedProcess = Pick<ProcessEntry, "pid" | "startTime">;

/** More are not noted: they have their tags as well. */
const notedMax = 1000;

export class Census {
  #starts = new Map<number, string>();
  /** What daemons that were killed have left, until it is ended. */
  inherited: readonly NotedProcess[] = [];

  /** True where it is another than before. Only who is new is looked at. */
  take(pids: number[]): boolean {
    const known = this.#starts;
    const starts = new Map<number, string>();
    for (const pid of pids.slice(0, notedMax)) {
      const startTime = known.get(pid) ?? processTable.entry(pid)?.startTime;
      if (startTime !== undefined) starts.set(pid, startTime);
    }
    this.#starts = starts;
    return starts.size !== known.size || [...starts.keys()].some((pid) => !known.has(pid));
  }

  toJSON(): object {
    const inherited = this.inherited.map(({ pid, startTime }) => [pid, startTime]);
    return { world: processTable.pidScope(), processes: [...this.#starts, ...inherited] };
  }
}

/** None where it was taken in another world. */
export function processesFrom(value: object): NotedProcess[] | undefined {
  const { world, processes } = value as { world?: unknown; processes?: unknown };
  if (!Array.isArray(processes)) return undefined;
  if (world !== processTable.pidScope()) return [];
  return processes.flatMap((process: unknown) => {
    const [pid, startTime] = Array.isArray(process) ? process : [];
    return Number.isSafeInteger(pid) && typeof startTime === "string" ? [{ pid, startTime }] : [];
  });
}
