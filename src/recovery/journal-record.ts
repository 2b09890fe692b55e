// The journal's record of a command or a terminal: ids, numbers, times and the exit reason. A record never has output,
// a command line, a directory or an environment, because the file outlives the daemon and its clients' permissions.
import { type ExitReason, exitReasons, lostReason } from "../protocol/exec.ts";
import type { Receipt } from "../protocol/isolation.ts";
import { type DriverName, driverNames } from "../protocol/pty.ts";

export const recordKinds = ["run", "stream", "terminal"] as const;

export interface StartedRecord {
  kind: (typeof recordKinds)[number];
  id: string;
  sessionId: string;
  pid: number;
  /** Milliseconds since 1970, like all times of a record. */
  startedAt: number;
  /** Terminals only, like the next two. */
  cols?: number;
  rows?: number;
  driver?: DriverName;
}

export interface EndedRecord extends StartedRecord {
  endedAt: number;
  exitCode: number;
  signal: string | null;
  /** `lost` if it ran when its daemon was killed. */
  reason: ExitReason | typeof lostReason;
  durationMs: number;
  /** For a terminal, all of its output. */
  stdoutBytes: number;
  stderrBytes: number;
  receipt: Receipt | null;
}

export type JournalRecord = StartedRecord | EndedRecord;

export const hasEnded = (record: JournalRecord): record is EndedRecord => "endedAt" in record;

/** Validates every field: another program may have written to the file, and its last line may be cut off. */
export function recordFrom(value: unknown): JournalRecord | undefined {
  if (!isFields(value)) return undefined;
  const { kind, id, sessionId, pid, startedAt, cols, rows, driver } = value;
  const isStarted =
    recordKinds.includes(kind as StartedRecord["kind"]) &&
    [id, sessionId].every(isId) &&
    [pid, startedAt].every(isCount) &&
    [cols, rows].every((side) => side === undefined || isCount(side)) &&
    (driver === undefined || driverNames.includes(driver as DriverName));
  if (!isStarted) return undefined;
  if (value["endedAt"] === undefined) return value as unknown as StartedRecord;
  return isEnd(value) ? (value as unknown as EndedRecord) : undefined;
}

function isEnd(value: Fields): boolean {
  const { endedAt, exitCode, signal, reason, durationMs, stdoutBytes, stderrBytes, receipt } = value;
  return (
    [endedAt, exitCode, durationMs, stdoutBytes, stderrBytes].every(isCount) &&
    (signal === null || (typeof signal === "string" && /^SIG[A-Z0-9+-]{1,16}$/.test(signal))) &&
    [...exitReasons, lostReason].includes(reason as ExitReason) &&
    (receipt === null || isFields(receipt))
  );
}

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isId = (value: unknown) =>
  typeof value === "string" && /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/.test(value);
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
