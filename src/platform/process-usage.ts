// Processor time and memory of processes: of children that have ended, of running ones, and the peak of this one.
import { runningInfoOf } from "./darwin/libproc.ts";
import * as linux from "./linux/process-usage.ts";

/** Usage of a process that has ended and of the descendants that it waited for. */
export interface ProcessUsage {
  cpuMs: number;
  /** Of the largest of them; null if it is not known. */
  peakMemoryBytes: number | null;
}

export interface RunningUsage {
  cpuMs: number;
  residentBytes: number;
}

const isLinux = process.platform === "linux";

export function usageOf(child: Pick<Bun.Subprocess, "resourceUsage">): ProcessUsage | undefined {
  const usage = child.resourceUsage();
  if (!usage) return undefined;
  return usageFrom(Number(usage.cpuTime.total) / 1000, usage.maxRSS);
}

/** From the numbers of getrusage(2). */
export const usageFrom = (cpuMs: number, peakBytes: number): ProcessUsage => ({
  cpuMs,
  peakMemoryBytes: peakOfChild(peakBytes),
});

/** Undefined if the process has ended. */
export const runningUsage = (pid: number): RunningUsage | undefined =>
  isLinux ? linux.runningUsage(pid) : runningInfoOf(pid);

/** Processor time of a running process without its children; undefined if it has ended. */
export const cpuMsOf = (pid: number): number | undefined =>
  isLinux ? linux.cpuMsOf(pid) : runningInfoOf(pid)?.cpuMs;

/** The peak of the programs that ran in this process before an `exec`. */
export function notePeakBeforeExec(bytes: number): void {
  ownPeakBytes = Math.max(ownPeakBytes, bytes);
}

/** The highest resident size of this process, programs before an `exec` included. 0 if it cannot be read. */
export const peakMemoryBytes = (): number =>
  isLinux ? Math.max(ownPeakBytes, linux.peakBytesOfProgram()) : (runningInfoOf(process.pid)?.peakBytes ?? 0);

let ownPeakBytes = 0;

/**
 * Linux counts pages per processor and adds them up in batches of 32 (`percpu_counter_batch`): two readings of the same
 * memory may differ by a batch for each processor in use. A program that is just starting uses few processors.
 */
const countingErrorBytes = 2 * 1024 * 1024;

/**
 * On Linux the peak of a child includes the time between fork and exec, in which it shared this process's memory. A value
 * up to this process's own peak says nothing about the child. That peak only rises, so it is read rarely.
 */
function peakOfChild(bytes: number): number | null {
  if (!isLinux) return bytes;
  const certainBytes = bytes - countingErrorBytes;
  if (certainBytes > ownPeakBytes) ownPeakBytes = Math.max(ownPeakBytes, linux.peakBytesOfProgram());
  return certainBytes > ownPeakBytes ? bytes : null;
}
