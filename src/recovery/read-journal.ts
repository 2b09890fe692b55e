// Reads the journal of a killed daemon. Does not write it (journal.ts).
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { journalBytesMax, retainedCommandsMax, retainedSeconds } from "../core/limits.ts";
import type { Log } from "../core/log.ts";
import { lostExitCode, lostReason } from "../protocol/exec.ts";
import { daemonsFrom, type JournaledDaemon } from "./journal-daemons.ts";
import { type EndedRecord, hasEnded, type JournalRecord, recordFrom } from "./journal-record.ts";
import { type JournaledProcess, processesFrom } from "./process-list.ts";

export interface JournalContents {
  /** Commands and terminals: first those that had ended, then those that ran, with the reason `lost`. */
  records: EndedRecord[];
  /** The writer of the journal, then the killed daemons before it. */
  daemons: JournaledDaemon[];
  processes: JournaledProcess[];
}

/** A daemon rewrites its journal long before it is this large, so a larger file is no journal. */
const readableBytesMax = 16 * journalBytesMax;

/** Skips invalid lines: the last line of a killed daemon is usually cut off. */
export function readJournal(path: string, log: Log): JournalContents {
  const found: JournalContents = { records: [], daemons: [], processes: [] };
  const records = new Map<string, JournalRecord>();
  for (const line of textOf(path, log).split("\n")) {
    const value = objectFrom(line);
    if (value === undefined) continue;
    const record = recordFrom(value);
    if (record) {
      records.delete(record.id); // keeps the map in the order of the latest records
      records.set(record.id, record);
    }
    found.processes = processesFrom(value) ?? found.processes;
    found.daemons = daemonsFrom(value) ?? found.daemons;
  }
  found.records = retained([...records.values()], Date.now());
  return found;
}

/** The latest ended ones within the retention limits, then those that ran. */
function retained(records: JournalRecord[], now: number): EndedRecord[] {
  const isRetained = ({ endedAt }: EndedRecord) => now - endedAt <= retainedSeconds * 1000;
  const ended = records.filter(hasEnded).filter(isRetained).slice(-retainedCommandsMax);
  return [...ended, ...records.filter((record) => !hasEnded(record)).map((record) => lost(record, now))];
}

/** Its exit code is unknown; leftovers.ts ends its processes. */
function lost(record: JournalRecord, now: number): EndedRecord {
  return {
    ...record,
    endedAt: now,
    exitCode: lostExitCode,
    signal: null,
    reason: lostReason,
    durationMs: 0,
    stdoutBytes: 0,
    stderrBytes: 0,
    receipt: null,
  };
}

/** Refuses symbolic links and files of other users. */
function textOf(path: string, log: Log): string {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let fd: number | undefined;
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const { size, uid } = fstatSync(fd);
    const isOurs = fstatSync(fd).isFile() && uid === process.getuid?.() && size <= readableBytesMax;
    if (!isOurs) throw new Error("it is not a journal of this user");
    return readFileSync(fd, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") log.warn("the journal cannot be read", { cause: message });
    return "";
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function objectFrom(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
