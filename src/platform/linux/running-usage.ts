// What a running process uses, where /proc tells.
import { readFileSync } from "node:fs";

export interface RunningUsage {
  cpuMs: number;
  residentBytes: number;
}

/** The kernel counts in hundredths of a second here, whatever its own clock is. */
const tickMs = 10;
const pageBytes = 4096;

/** Undefined where the process has gone or the system does not tell. */
export function runningUsage(pid: number): RunningUsage | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // Behind the name, which may hold anything: state is the third field, then utime 14, stime 15, rss 24.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[11]) + Number(fields[12]);
    return { cpuMs: ticks * tickMs, residentBytes: Number(fields[21]) * pageBytes };
  } catch {
    return undefined;
  }
}
