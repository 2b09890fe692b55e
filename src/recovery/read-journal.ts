// The journal of a daemon that was killed.
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { journalBytesMax, retainedCommandsMax, retainedSeconds } from "../core/limits.ts";
import type { Log } from "../core/log.ts";
import { lostExitCode, lostReason } from "../protocol/exec.ts";
import { daemonsFrom, type NotedDaemon } from "./journal-daemons.ts";
import { type EndedRecord, hasEnded, type JournalRecord, recordFrom } from "./journal-record.ts";
import { type NotedProcess, processesFrom } from "./process-list.ts";

export interface FoundJournal {
  /** Of commands and terminals: those that had ended, and those that ran, which are lost. */
  records: EndedRecord[];
  /** Daemons that it speaks of, whose it is first. */
  daemons: NotedDaemon[];
  processes: NotedProcess[];
}

/** It is written anew long before. */
const readableBytesMax = 16 * journalBytesMax;

/** Lines that are none are passed over: one that was cut off is the rule and no exception. */
export function readJournal(path: string, log: Log): FoundJournal {
  const found: FoundJournal = { records: [], daemons: [], processes: [] };
  const records = new Map<string, JournalRecord>();
  for (const line of textOf(path, log).split("\n")) {
    const value = objectFrom(line);
    if (value === undefined) continue;
    const record = recordFrom(value);
    if (record) {
      records.delete(record.id); // the order is that of the last that was heard
      records.set(record.id, record);
    }
    found.processes = processesFrom(value) ?? found.processes;
    found.daemons = daemonsFrom(value) ?? found.daemons;
  }
  found.records = stillKept([...records.values()], Date.now());
  return found;
}

/** The last that have ended, and behind them those that ran. */
function stillKept(records: JournalRecord[], now: number): EndedRecord[] {
  const isKept = ({ endedAt }: EndedRecord) => now - endedAt <= retainedSeconds * 1000;
  const ended = records.filter(hasEnded).filter(isKept).slice(-retainedCommandsMax);
  return [...ended, ...records.filter((record) => !hasEnded(record)).map((record) => lost(record, now))];
}

/** Nobody knows how it ended; that it has is seen to. */
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

/** A file of ours, and not by way of a link. */
function textOf(path: string, log: Log): string {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let fd: number | undefined;
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const { size, uid } = fstatSync(fd);
    const isOurs = fstatSync(fd).isFile() && uid === process.getuid?.() && size <= readableBytesMax;
    if (!isOurs) throw new Error("it is no journal of this user");
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
