// The daemon's tag: its pid and its socket path. Every process that it starts has the tag in its environment.
import { daemonMark, pidOfDaemonMark } from "../core/process/marks.ts";
import { processTable } from "../platform/process-table.ts";

/** Replaces the socket path in the tag of a daemon without a socket. */
export const stdioTag = "stdio";

export function daemonTag(socketPath: string, pid = process.pid): string {
  const tag = `${pid}:${socketPath}`;
  // ps(1) separates the variables of an environment by spaces, so a value ends at its first space.
  return process.platform === "darwin" ? tag.replace(/\s.*$/s, "") : tag;
}

/**
 * A daemon on standard input has no successor on the same socket, so any later daemon ends its leftovers. The pid in a
 * tag is valid only in the pid namespace of the daemon, which must be ours.
 */
export function tagOfDeadStdio(tag: string, pid: number): boolean {
  const [, daemon] = /^(\d+):stdio$/.exec(tag) ?? [];
  return daemon !== undefined && isDeadDaemon(Number(daemon), pid);
}

/** The same check by the mark of a process, for a process that cleared its environment. */
export function markOfDeadStdio(mark: bigint, pid: number): boolean {
  const daemon = pidOfDaemonMark(mark);
  return mark === daemonMark(daemonTag(stdioTag, daemon)) && isDeadDaemon(daemon, pid);
}

function isDeadDaemon(daemon: number, pid: number): boolean {
  if (!processTable.sharesPidScope(pid)) return false;
  const entry = processTable.entry(daemon);
  return entry === undefined || entry.isZombie;
}
