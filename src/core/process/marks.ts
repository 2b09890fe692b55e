// Marks of sessions: each session has a number that all of its processes inherit (platform/process-mark.ts), also those
// that clear their environment or change their user. A mark names the daemon as well:
//   22 bits of the daemon's pid, 24 bits of a checksum of its socket's path, 16 bits of the session's number
import { detectProcessMark } from "../../platform/process-mark.ts";
import { processTable } from "../../platform/process-table.ts";

const sessionBits = 16n;
const sessionsMax = 2 ** Number(sessionBits);

/** The part of a mark that names the daemon, from the tag of its processes: PID:SOCKET. */
export function daemonMark(tag: string): bigint {
  const [, pid = "0", socketPath = ""] = /^(\d+):(.*)$/s.exec(tag) ?? [];
  return (BigInt(pid) << 24n) | BigInt(Bun.hash.crc32(socketPath) >>> 8);
}

export const daemonOfMark = (mark: bigint): bigint => mark >> sessionBits;
export const pidOfDaemonMark = (daemon: bigint): number => Number(daemon >> 24n);

export type MarksState = { sessionId: string; number: number }[];

export class Marks {
  readonly #daemon: bigint;
  readonly #numbers = new Map<string, number>();
  readonly #sessions = new Map<number, string>();
  /** A random start, so that it rarely reuses a mark of an earlier daemon with the same pid and socket. */
  #last = Math.floor(Math.random() * sessionsMax);
  /** Undefined if the system refuses marks; then no process has one. */
  readonly #processMark = detectProcessMark();

  constructor(daemonTag: string, before: MarksState = []) {
    this.#daemon = daemonMark(daemonTag);
    for (const { sessionId, number } of before) this.#set(sessionId, number);
  }

  pack(): MarksState {
    return [...this.#numbers].map(([sessionId, number]) => ({ sessionId, number }));
  }

  add(sessionId: string): void {
    if (this.#numbers.has(sessionId) || this.#numbers.size === sessionsMax) return;
    do this.#last = (this.#last + 1) % sessionsMax;
    while (this.#sessions.has(this.#last));
    this.#set(sessionId, this.#last);
  }

  remove(sessionId: string): void {
    const number = this.#numbers.get(sessionId);
    if (number === undefined) return;
    this.#numbers.delete(sessionId);
    this.#sessions.delete(number);
  }

  /** The session that a process belongs to. Works for zombies as well. */
  sessionOf(pid: number): string | undefined {
    const mark = this.#processMark && processTable.markOf(pid);
    if (mark === undefined || daemonOfMark(mark) !== this.#daemon) return undefined;
    return this.#sessions.get(Number(mark % BigInt(sessionsMax)));
  }

  /** Whether marks work here and the process has none: no session has started it. */
  isUnmarked(pid: number): boolean {
    return this.#processMark?.isUnmarked(processTable.markOf(pid)) ?? false;
  }

  /** Everything that `start` starts has the session's mark from its first moment on. */
  start<T>(sessionId: string, start: () => T): T {
    const number = this.#numbers.get(sessionId);
    if (number === undefined || !this.#processMark) return start();
    return this.#processMark.start((this.#daemon << sessionBits) | BigInt(number), start);
  }

  #set(sessionId: string, number: number): void {
    this.#numbers.set(sessionId, number);
    this.#sessions.set(number, sessionId);
  }
}
