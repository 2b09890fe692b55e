// A file beside the socket, for the case that the daemon is killed: the commands and terminals that it has and had, and
// the processes that it keeps. Written after those who are being answered, all of one turn at a time. The kernel has
// what was written when the daemon is killed, so that nothing is flushed to the disk, and it takes microseconds.
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
import { type NotedDaemon, noteOf } from "./journal-daemons.ts";
import { hasEnded, type JournalRecord } from "./journal-record.ts";
import { Census, type NotedProcess } from "./process-list.ts";

const startedDelayMs = 3;

export class Journal {
  readonly #running = new Map<string, JournalRecord>();
  /** In the order of their end. */
  readonly #ended = new Map<string, JournalRecord>();
  readonly #census = new Census();
  #predecessors: readonly NotedDaemon[] = [];
  #fd: number | undefined;
  #bytes = 0;
  #bytesMax = journalBytesMax;
  #pending: object[] = [];
  #flushing: Timer | undefined;
  #notBefore = 0;
  #hasComplained = false;
  #isClosed = false;
  /** Hears of all that is written. */
  onRecord: (record: JournalRecord) => void = () => {};

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

  /** What was known of the id before is replaced. */
  write(record: JournalRecord): void {
    this.#running.delete(record.id);
    this.#ended.delete(record.id);
    (hasEnded(record) ? this.#ended : this.#running).set(record.id, record);
    if (this.#ended.size > retainedCommandsMax) this.#ended.delete(this.#ended.keys().next().value!);
    // Of a command that has begun, a little later: most are over by then, and it is being waited for.
    this.#append(record, hasEnded(record) ? 0 : startedDelayMs);
    this.onRecord(record);
  }

  /** Daemons that were killed on this socket, and what is known of their processes, while these are being ended. */
  inherit(predecessors: readonly NotedDaemon[], processes: readonly NotedProcess[]): void {
    const { inherited } = this.#census;
    const isNews = [predecessors, processes, this.#predecessors, inherited].some(({ length }) => length > 0);
    if (!isNews) return; // as after every orderly end
    this.#predecessors = predecessors;
    this.#census.inherited = processes;
    this.#append(noteOf(predecessors));
    this.#append(this.#census);
  }

  /** To be called now and then, with the pids of what is in custody. */
  tend(pids: number[]): void {
    const isGone = this.#fd !== undefined && !existsSync(this.path); // a cleaner came by
    if (isGone) this.#close();
    if (this.#census.take(pids) || isGone) this.#append(this.#census);
  }

  /** An orderly end: all who waited were told how theirs ended, and there is nobody to come back to. */
  remove(): void {
    this.#isClosed = true;
    this.#close();
    try {
      requireJournal(this.path);
      rmSync(this.path, { force: true });
    } catch {
      // somebody else's is in its place
    }
  }

  #append(line: object, delayMs = 0): void {
    if (this.#isClosed || performance.now() < this.#notBefore) return;
    this.#pending.push(line);
    if (delayMs === 0) setImmediate(() => this.#flush());
    else this.#flushing ??= setTimeout(() => this.#flush(), delayMs);
  }

  #flush(): void {
    clearTimeout(this.#flushing);
    this.#flushing = undefined;
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

  /** All that counts, in a new file: whole from the first moment, in place of the old one. */
  #rewrite(): void {
    this.#close();
    const fresh = `${this.path}.new`;
    for (const path of [this.path, fresh]) requireJournal(path);
    rmSync(fresh, { force: true });
    const fd = openSync(fresh, "ax", 0o600);
    try {
      fchmodSync(fd, 0o600); // a umask may have taken from it
      const records = [...this.#ended.values(), ...this.#running.values()];
      this.#bytes = 0;
      this.#writeAll(fd, [noteOf(this.#predecessors), this.#census, ...records].map(lineOf).join(""));
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

  /** The commands go on: what would have been noted is not, and is noted again when there is room. */
  #failed({ message }: Error): void {
    this.#close();
    this.#notBefore = performance.now() + journalPauseMs;
    if (!this.#hasComplained) this.log.warn("the journal cannot be written", { cause: message });
    this.#hasComplained = true;
  }
}

/** Never another's file: throws where there is one, of whatever kind, that no journal of this user is. */
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
  throw new Error(`${path} exists and is no journal of this user`);
}

/** By its first line, or empty. */
function isJournal(fd: number): boolean {
  const begin = Buffer.alloc(16);
  return /^($|\{"daemons":\[\d)/.test(begin.toString("latin1", 0, readSync(fd, begin)));
}

const lineOf = (line: object): string => `${JSON.stringify(line)}\n`;
