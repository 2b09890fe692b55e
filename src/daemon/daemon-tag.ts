// The tag by which a daemon's processes are known: its pid and its place.
import { daemonMark, pidOfDaemonMark } from "../core/process/marks.ts";
import { processTable } from "../platform/process-table.ts";

/** The place of a daemon without a socket. */
export const stdioTag = "stdio";

export function daemonTag(place: string, pid = process.pid): string {
  const tag = `${pid}:${place}`;
  // ps(1) shows an environment with spaces between its variables: a value ends there.
  return process.platform === "darwin" ? tag.replace(/\s.*$/s, "") : tag;
}

/**
 * A daemon on standard input has no successor that would know of it: who comes next ends what it left. Its pid is that
 * of the namespace in which it ran, and says something only where that is ours.
 */
export function tagOfDeadStdio(tag: string, pid: number): boolean {
  const [, daemon] = /^(\d+):stdio$/.exec(tag) ?? [];
  return daemon !== undefined && isDeadDaemon(Number(daemon), pid);
}

/** The same by the mark of a process. */
export function markOfDeadStdio(mark: bigint, pid: number): boolean {
  const daemon = pidOfDaemonMark(mark);
  return mark === daemonMark(daemonTag(stdioTag, daemon)) && isDeadDaemon(daemon, pid);
}

function isDeadDaemon(daemon: number, pid: number): boolean {
  if (!processTable.sharesPidScope(pid)) return false;
  const entry = processTable.entry(daemon);
  return entry === undefined || entry.isZombie;
}
