// Processor time and memory of processes on Linux, from /proc and the per-process clocks.
import { readFileSync } from "node:fs";
import { readClock } from "../libc.ts";
import type { RunningUsage } from "../process-usage.ts";

/** The kernel reports times in hundredths of a second, whatever its timer frequency. */
const tickMs = 10;
const pageBytes = 4096;

export function runningUsage(pid: number): RunningUsage | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // Behind the name, which may contain anything: state is the third field, utime the 14th, stime 15th, rss 24th.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[11]) + Number(fields[12]);
    return { cpuMs: ticks * tickMs, residentBytes: Number(fields[21]) * pageBytes };
  } catch {
    return undefined;
  }
}

const CPUCLOCK_SCHED = 2;

export const cpuMsOf = (pid: number): number | undefined => readClock((~pid << 3) | CPUCLOCK_SCHED);

/** The peak since the last `exec`. getrusage(2) would include the program before it. NaN if it cannot be read. */
export function peakBytesOfProgram(): number {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "latin1")) ?? [];
    return Number(kilobytes ?? Number.NaN) * 1024;
  } catch {
    return Number.NaN;
  }
}
