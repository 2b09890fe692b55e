// What the system says of a child that has ended, and of those that it waited for.

import { ownPeakBytes } from "./linux/process-usage.ts";
import type { ProcessUsage } from "../core/isolation/meter.ts";

export function usageOf(child: Pick<Bun.Subprocess, "resourceUsage">): ProcessUsage | undefined {
  const usage = child.resourceUsage();
  if (!usage) return undefined;
  return usageFrom(Number(usage.cpuTime.total) / 1000, usage.maxRSS);
}

export const usageFrom = (cpuMs: number, peakBytes: number): ProcessUsage => ({
  cpuMs,
  peakMemoryBytes: ownPeak(peakBytes),
});

/** What a program that has become this one by `exec` has had. */
export function notePeakBefore(bytes: number): void {
  daemonPeakBytes = Math.max(daemonPeakBytes, bytes);
}

/** The most that the daemon has had in memory, as far as it is known. */
export const peakSoFar = (): number => (isLinux ? Math.max(daemonPeakBytes, ownPeakBytes()) : 0);

const isLinux = process.platform === "linux";
let daemonPeakBytes = 0;

/**
 * Linux counts pages on each processor, and adds up when one has counted 32 or more (`percpu_counter_batch`): two looks at
 * the same memory may differ by that for each processor that was used. A program that is just starting uses few.
 */
const countingErrorBytes = 2 * 1024 * 1024;

/**
 * On Linux a child's peak counts the moment before it became its program, when it shared the daemon's memory. So what
 * is not more than the daemon's own peak says nothing of the child. That peak only rises, and is asked for rarely.
 */
function ownPeak(bytes: number): number | null {
  if (!isLinux) return bytes;
  const certain = bytes - countingErrorBytes;
  if (certain > daemonPeakBytes) daemonPeakBytes = Math.max(daemonPeakBytes, ownPeakBytes());
  return certain > daemonPeakBytes ? bytes : null;
}
