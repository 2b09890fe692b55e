import type { ErrorCode } from "../protocol/errors.ts";
import type { CountersState } from "../upgrade/schema/document.ts";

/** Counts that the transports keep and system.stats shows. */
export interface ServerCounters {
  connections: number;
  connectionsTotal: number;
  bytesIn: number;
  bytesOut: number;
  requests: number;
  /** Answers that were errors, by their code. */
  errors: Map<ErrorCode, number>;
}

/** They go on where the program before us was. */
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
