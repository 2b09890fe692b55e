// The journal: a file beside the socket that survives when the daemon is killed. It holds the commands and terminals
// that run or have ended, and the owned processes. Writes happen after the replies of the same event-loop turn, in one
// batch. The kernel keeps written data when a process is killed, so nothing is synced to disk.
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { journalBytesMax, journalPauseMs, retainedCommandsMax } from "../core/limits.ts";
import type { Log } from "../core/log.ts";
import { daemonsLine, type JournaledDaemon } from "./journal-daemons.ts";
import { hasEnded, type JournalRecord } from "./journal-record.ts";
import { type JournaledProcess, ProcessList } from "./process-list.ts";

const startedDelayMs = 3;

export class Journal {
  readonly #running = new Map<string, JournalRecord>();
  /** In the order of their end. */
  readonly #ended = new Map<string, JournalRecord>();
  readonly #processes = new ProcessList();
  #predecessors: readonly JournaledDaemon[] = [];
  #fd: number | undefined;
  #bytes = 0;
  #bytesMax = journalBytesMax;
  #pending: object[] = [];
  #flushTimer: Timer | undefined;
  #retryAt = 0;
  #hasWarned = false;
  #isClosed = false;

  constructor(
    readonly path: string,
    readonly log: Log,
  ) {
    try {
      requireJournal(path);
    } catch (error) {
      this.#failed(error as Error);
    }
  }

  /** Replaces the earlier record of the same id. */
  write(record: JournalRecord): void {
    this.#running.delete(record.id);
    this.#ended.delete(record.id);
    (hasEnded(record) ? this.#ended : this.#running).set(record.id, record);
    if (this.#ended.size > retainedCommandsMax) this.#ended.delete(this.#ended.keys().next().value!);
    // A start is written after a delay: most commands end earlier, and the write would delay their replies.
    this.#append(record, hasEnded(record) ? 0 : startedDelayMs);
  }

  /** Killed daemons of this socket and their leftover processes, while these are being ended. */
  inherit(predecessors: readonly JournaledDaemon[], processes: readonly JournaledProcess[]): void {
    const { inherited } = this.#processes;
    const isNews = [predecessors, processes, this.#predecessors, inherited].some(({ length }) => length > 0);
    if (!isNews) return; // nothing was killed
    this.#predecessors = predecessors;
    this.#processes.inherited = processes;
    this.#append(daemonsLine(predecessors));
    this.#append(this.#processes);
  }

  /** Writes the list of owned processes if it has changed, or if another program has removed the file. */
  writeProcesses(pids: number[]): void {
    const isRemoved = this.#fd !== undefined && !existsSync(this.path);
    if (isRemoved) this.#close();
    if (this.#processes.update(pids) || isRemoved) this.#append(this.#processes);
  }

  /** For an orderly shutdown, after which there is nothing to recover. */
  remove(): void {
    this.#isClosed = true;
    this.#close();
    try {
      requireJournal(this.path);
      rmSync(this.path, { force: true });
    } catch {
      // the path is another program's file by now
    }
  }

  #append(line: object, delayMs = 0): void {
    if (this.#isClosed || performance.now() < this.#retryAt) return;
    this.#pending.push(line);
    if (delayMs === 0) setImmediate(() => this.#flush());
    else this.#flushTimer ??= setTimeout(() => this.#flush(), delayMs);
  }

  #flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    if (this.#isClosed || this.#pending.length === 0) return;
    const text = this.#pending.map(lineOf).join("");
    this.#pending = [];
    try {
      if (this.#fd === undefined || this.#bytes + text.length > this.#bytesMax) this.#rewrite();
      else this.#writeAll(this.#fd, text);
    } catch (error) {
      this.#failed(error as Error);
    }
  }

  /** Writes the current state to a new file and renames it over the old one, so a reader never sees half of it. */
  #rewrite(): void {
    this.#close();
    const fresh = `${this.path}.new`;
    for (const path of [this.path, fresh]) requireJournal(path);
    rmSync(fresh, { force: true });
    const fd = openSync(fresh, "ax", 0o600);
    try {
      fchmodSync(fd, 0o600); // a strict umask may have removed the owner's bits
      const records = [...this.#ended.values(), ...this.#running.values()];
      this.#bytes = 0;
      this.#writeAll(fd, [daemonsLine(this.#predecessors), this.#processes, ...records].map(lineOf).join(""));
      renameSync(fresh, this.path);
    } catch (error) {
      closeSync(fd);
      rmSync(fresh, { force: true });
      throw error;
    }
    this.#bytesMax = Math.max(journalBytesMax, 2 * this.#bytes);
    this.#fd = fd;
  }

  #writeAll(fd: number, text: string): void {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    this.#bytes += bytes.length;
  }

  #close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  /** Commands go on without a journal. Lines are dropped until `#retryAt`; the next write then rewrites the whole file. */
  #failed({ message }: Error): void {
    this.#close();
    this.#retryAt = performance.now() + journalPauseMs;
    if (!this.#hasWarned) this.log.warn("the journal cannot be written", { cause: message });
    this.#hasWarned = true;
  }
}

/** Throws if the path exists and is not a journal of this user, so that no other file is ever overwritten. */
function requireJournal(path: string): void {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let fd: number | undefined;
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const stat = fstatSync(fd);
    if (stat.isFile() && stat.uid === process.getuid?.() && isJournal(fd)) return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
  throw new Error(`${path} exists and is not a journal of this user`);
}

/** A journal is empty or begins with the list of daemons. */
function isJournal(fd: number): boolean {
  const begin = Buffer.alloc(16);
  return /^($|\{"daemons":\[\d)/.test(begin.toString("latin1", 0, readSync(fd, begin)));
}

const lineOf = (line: object): string => `${JSON.stringify(line)}\n`;
