// When a process was started, from /proc.
import { readFileSync } from "node:fs";

/** In clock ticks since boot; undefined if there is no such process. */
export function startTimeOnLinux(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // "pid (name) state ..."; the name may contain spaces and parentheses.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
