// The mark of a session: a number that all of its processes inherit across fork and exec, also those that clear their
// environment or change their user. On Linux it is the soft limit of file locks, which the kernel keeps, shows to
// every user, and has not enforced since 2.4.25: the mark limits nothing, and nothing else uses it.
// A process loses it only by setting that limit itself. It names the daemon as well:
//   22 bits of the daemon's pid, 24 bits of a checksum of its socket's path, 16 bits of the session's number
import { ownLimit, setOwnLimit } from "../../platform/libc.ts";
import { processTable } from "../../platform/process-table.ts";

const RLIMIT_LOCKS = 10;
const unlimited = 0xffff_ffff_ffff_ffffn;
const sessionBits = 16n;
const sessionsMax = 2 ** Number(sessionBits);

/** The part of a mark that names the daemon, from the tag that it gives to its processes: its pid and its socket. */
export function daemonMark(tag: string): bigint {
  const [, pid = "0", place = ""] = /^(\d+):(.*)$/s.exec(tag) ?? [];
  return (BigInt(pid) << 24n) | BigInt(Bun.hash.crc32(place) >>> 8);
}

export const daemonOfMark = (mark: bigint): bigint => mark >> sessionBits;
export const pidOfDaemonMark = (daemon: bigint): number => Number(daemon >> 24n);

export type MarksState = { sessionId: string; number: number }[];

export class Marks {
  readonly #daemon: bigint;
  readonly #numbers = new Map<string, number>();
  readonly #sessions = new Map<number, string>();
  /** Begins anywhere, so that marks of a daemon that had this pid and this socket before are unlikely to be met. */
  #last = Math.floor(Math.random() * sessionsMax);
  /** As the daemon itself has it; undefined where it may not be raised, and nothing is marked. */
  readonly #own: { soft: bigint; hard: bigint } | undefined;

  constructor(daemonTag: string, before: MarksState = []) {
    this.#daemon = daemonMark(daemonTag);
    const own = ownLimit(RLIMIT_LOCKS);
    this.#own = own?.hard === unlimited ? own : undefined;
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

  /** The session that a process belongs to, also of one that has ended and is not yet reaped. */
  sessionOf(pid: number): string | undefined {
    const mark = this.#own && processTable.markOf(pid);
    if (mark === undefined || daemonOfMark(mark) !== this.#daemon) return undefined;
    return this.#sessions.get(Number(mark % BigInt(sessionsMax)));
  }

  /** Whether sessions are marked and the process has the daemon's own limit: no session has started it. */
  isUnmarked(pid: number): boolean {
    if (!this.#own) return false;
    return (processTable.markOf(pid) ?? unlimited) === this.#own.soft; // "unlimited" is no number there
  }

  /** What `start` starts is marked from its first moment on: it inherits the limit from the daemon. */
  start<T>(sessionId: string, start: () => T): T {
    const number = this.#numbers.get(sessionId);
    if (number === undefined || !this.#own) return start();
    const { soft, hard } = this.#own;
    setOwnLimit(RLIMIT_LOCKS, (this.#daemon << sessionBits) | BigInt(number), hard);
    try {
      return start();
    } finally {
      setOwnLimit(RLIMIT_LOCKS, soft, hard);
    }
  }

  #set(sessionId: string, number: number): void {
    this.#numbers.set(sessionId, number);
    this.#sessions.set(number, sessionId);
  }
}
