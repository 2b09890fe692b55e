// Counts of the commands that have ended, for whoever draws curves of them.
import type { ExitReason } from "../../protocol/exec.ts";

/** Upper bounds of the durations' classes, in seconds. */
export const durationClasses = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1800] as const;

export class CommandTally {
  /** A command that exits with another code than 0 is an outcome of its own. */
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
  /** How many took no longer than the class of the same place. */
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
