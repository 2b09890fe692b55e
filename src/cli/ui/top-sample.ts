// Samples for `trl top`; two samples give the rates.

import type { StatsResult } from "../../protocol/system.ts";
import type { DaemonClient } from "../client.ts";
import { listRunning, type Running } from "../running.ts";

export interface TopRow extends Running {
  /** Undefined in the first sample. */
  bytes_per_s: number | undefined;
}

export interface Sample {
  /** By performance.now(). */
  at: number;
  stats: StatsResult;
  rows: TopRow[];
  /** Sum over all rows. */
  bytes_per_s: number;
}

/** Requests only what runs, to keep the load on the daemon low. */
export async function takeSample(client: DaemonClient, before?: Sample): Promise<Sample> {
  const [stats, running] = await Promise.all([client.call("system.stats", {}), listRunning(client, false)]);
  const at = performance.now();
  const known = new Map(before?.rows.map((row) => [row.id, row]));
  const seconds = before ? (at - before.at) / 1000 : 0;
  const rateOf = ({ id, started_at, output_bytes }: Running): number | undefined => {
    const last = known.get(id);
    // A new terminal may reuse the id of an ended one.
    if (!last || last.started_at !== started_at || seconds <= 0) return undefined;
    return Math.max(0, (output_bytes - last.output_bytes) / seconds);
  };
  const rows = running.map((row) => ({ ...row, bytes_per_s: rateOf(row) }));
  return { at, stats, rows, bytes_per_s: rows.reduce((sum, { bytes_per_s = 0 }) => sum + bytes_per_s, 0) };
}

/** Sorts agent-2 before agent-10. */
const byName = new Intl.Collator(undefined, { numeric: true });

const ordersBy = {
  elapsed: (a, b) => Date.parse(a.started_at) - Date.parse(b.started_at),
  output: (a, b) => b.output_bytes - a.output_bytes,
  rate: (a, b) => (b.bytes_per_s ?? 0) - (a.bytes_per_s ?? 0),
  session: (a, b) => byName.compare(sessionOf(a), sessionOf(b)),
} as const satisfies Record<string, (a: TopRow, b: TopRow) => number>;

export type SortName = keyof typeof ordersBy;
export const sortNames = Object.keys(ordersBy) as SortName[];

const sessionOf = ({ session_name, session_id }: TopRow): string => session_name ?? session_id;

/** Largest first, names from a to z. */
export function sorted(rows: TopRow[], by: SortName, isReversed: boolean): TopRow[] {
  const inOrder = rows.toSorted(ordersBy[by]);
  return isReversed ? inOrder.reverse() : inOrder;
}
