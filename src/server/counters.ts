/** Counts that the transports keep and system.stats shows. */
export interface ServerCounters {
  connections: number;
  connectionsTotal: number;
  bytesIn: number;
  bytesOut: number;
}

export const newCounters = (): ServerCounters => ({
  connections: 0,
  connectionsTotal: 0,
  bytesIn: 0,
  bytesOut: 0,
});
