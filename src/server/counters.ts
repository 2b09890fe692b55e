import type { ErrorCode } from "../protocol/errors.ts";

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

export const newCounters = (): ServerCounters => ({
  connections: 0,
  connectionsTotal: 0,
  bytesIn: 0,
  bytesOut: 0,
  requests: 0,
  errors: new Map(),
});
