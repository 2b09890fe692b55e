import type { ErrorCode } from "../protocol/errors.ts";
import type { CountersState } from "../upgrade/schema/document.ts";

/** Traffic counters of all transports, for system.stats and the metrics. */
export interface ServerCounters {
  connections: number;
  connectionsTotal: number;
  bytesIn: number;
  bytesOut: number;
  requests: number;
  /** Error replies, by code. */
  errors: Map<ErrorCode, number>;
}

/** After an upgrade the totals continue. */
export const newCounters = (before?: CountersState): ServerCounters => ({
  connections: 0,
  connectionsTotal: before?.connectionsTotal ?? 0,
  bytesIn: before?.bytesIn ?? 0,
  bytesOut: before?.bytesOut ?? 0,
  requests: before?.requests ?? 0,
  errors: new Map(Object.entries(before?.errors ?? {}) as [ErrorCode, number][]),
});

export const packCounters = ({ connections: _, errors, ...counters }: ServerCounters): CountersState => ({
  ...counters,
  errors: Object.fromEntries(errors),
});
