// Counters of ended commands, for /metrics and system.stats.
import type { ExitReason } from "../../protocol/exec.ts";

/** Upper bounds of the histogram buckets, in seconds. */
export const durationClasses = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1800] as const;

export class CommandTally {
  /** `failure`: the command exited with a code other than 0. */
  readonly outcomes: Record<ExitReason | "failure", number> = {
    exit: 0,
    failure: 0,
    signal: 0,
    timeout: 0,
    cancelled: 0,
    memory_limit: 0,
    cpu_time_limit: 0,
    file_size_limit: 0,
    wall_clock_limit: 0,
  };
  /** Cumulative: how many took no longer than the bound at the same index. */
  readonly durations: number[] = durationClasses.map(() => 0);
  count = 0;
  secondsTotal = 0;
  outputBytes = 0;

  add(reason: ExitReason, exitCode: number, durationMs: number, outputBytes: number): void {
    this.outcomes[reason === "exit" && exitCode !== 0 ? "failure" : reason]++;
    const seconds = durationMs / 1000;
    for (let at = durationClasses.length - 1; at >= 0 && seconds <= durationClasses[at]!; at--)
      this.durations[at]!++;
    this.count++;
    this.secondsTotal += seconds;
    this.outputBytes += outputBytes;
  }
}
