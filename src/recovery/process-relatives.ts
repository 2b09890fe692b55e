// Who descends from whom, in a list of all processes.
import type { ProcessEntry } from "../platform/process-table.ts";

/** With their children, and those children's, each once. */
export function withDescendants<P extends ProcessEntry>(starts: P[], all: P[]): P[] {
  const children = Map.groupBy(all, ({ ppid }) => ppid);
  const found = new Map<number, P>();
  const waiting = [...starts];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next.pid)) continue;
    found.set(next.pid, next);
    waiting.push(...(children.get(next.pid) ?? []));
  }
  return [...found.values()];
}

/** A process, those who started it, and those whom it has started. */
export function kinOf(pid: number, all: ProcessEntry[]): Set<number> {
  const byPid = new Map(all.map((entry) => [entry.pid, entry]));
  const own = byPid.get(pid);
  const kin = new Set(own ? withDescendants([own], all).map((entry) => entry.pid) : [pid]);
  for (let at = own && byPid.get(own.ppid); at && !kin.has(at.pid); at = byPid.get(at.ppid)) kin.add(at.pid);
  return kin;
}
