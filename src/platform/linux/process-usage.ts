import { readFileSync } from "node:fs";

/** The most that this program has had in memory. Not what getrusage(2) says: that counts what started it, too. */
export function ownPeakBytes(): number {
  try {
    return (
      Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "latin1"))?.[1] ?? Number.NaN) *
      1024
    );
  } catch {
    return Number.NaN;
  }
}
