// What the system says of a child that has ended, and of those that it waited for.
import type { ProcessUsage } from "../isolation/meter.ts";
import { ownPeakBytes } from "./own-peak-linux.ts";

export function usageOf(child: Bun.Subprocess): ProcessUsage | undefined {
  const usage = child.resourceUsage();
  if (!usage) return undefined;
  return { cpuMs: Number(usage.cpuTime.total) / 1000, peakMemoryBytes: ownPeak(usage.maxRSS) };
}

const isLinux = process.platform === "linux";
let daemonPeakBytes = 0;

/**
 * On Linux a child's peak counts the moment before it became its program, when it shared the daemon's memory. So what
 * is not more than the daemon's own peak says nothing of the child. That peak only rises, and is asked for rarely.
 */
function ownPeak(bytes: number): number | null {
  if (!isLinux) return bytes;
  if (bytes > daemonPeakBytes) daemonPeakBytes = ownPeakBytes();
  return bytes > daemonPeakBytes ? bytes : null;
}
