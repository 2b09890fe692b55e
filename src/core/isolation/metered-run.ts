// Limits and metering of one command or one terminal program, with or without isolation: enforces the limits that the
// kernel does not (wall clock, total CPU time), and measures the usage at its end.
import type { ExitReason } from "../../protocol/exec.ts";
import type { HitName } from "../../protocol/isolation.ts";
import type { MeterState } from "../../upgrade/schema/commands.ts";
import { afterSeconds, leftOf } from "../../util/long-timer.ts";
import { signalOfExitCode } from "../../util/signal-name.ts";
import { type Exit, type Measured, type Meter, measuredByProcess, type ProcessUsage } from "./meter.ts";
import type { SessionIsolation } from "./session-isolation.ts";

export type LimitReason = Extract<ExitReason, "wall_clock_limit" | "cpu_time_limit">;
/** Why the daemon ends a command or a program. */
export type StopReason = LimitReason | "timeout" | "cancelled";

const hitBy: Partial<Record<StopReason, HitName>> = {
  wall_clock_limit: "wall_clock",
  cpu_time_limit: "cpu_time",
};

export class MeteredRun {
  readonly #meter: Meter | undefined;

  /** Must be constructed before the program starts, because it reads the counters. */
  constructor(
    readonly sessionIsolation: SessionIsolation | undefined,
    restored?: MeterState,
  ) {
    this.#meter = sessionIsolation?.meter(restored);
  }

  pack(): MeterState | undefined {
    return this.#meter?.pack();
  }

  /** Calls `reached` when a limit is reached. Returns a function that stops it. `elapsedMs` is the time already used. */
  watch(reached: (reason: LimitReason) => void, elapsedMs = 0): () => void {
    if (!this.sessionIsolation) return () => {};
    const wallClockS = this.sessionIsolation.limits.wall_clock_s ?? 0;
    const disarm = afterSeconds(leftOf(wallClockS, elapsedMs), () => reached("wall_clock_limit"));
    const stopCpuWatch = this.#meter!.watchCpuTime(() => reached("cpu_time_limit"));
    return () => {
      disarm();
      stopCpuWatch();
    };
  }

  /** Freezes all processes during a kill, so that none of them forks. Undefined without a control group. */
  get whileFrozen(): ((act: () => Promise<void>) => Promise<void>) | undefined {
    const cgroup = this.sessionIsolation?.cgroup;
    return cgroup && ((act) => cgroup.whileFrozen(act));
  }

  measure(exit: Exit, usage: ProcessUsage | undefined, stopReason: StopReason | undefined): Measured {
    const measured = this.#meter?.read(exit, usage) ?? measuredByProcess(usage);
    const hit = stopReason && hitBy[stopReason];
    if (hit && !measured.limitsHit.includes(hit)) measured.limitsHit.push(hit);
    return measured;
  }

  /** The usage so far, while it runs. Undefined without a control group. */
  measureSoFar(): Measured | undefined {
    return this.sessionIsolation?.cgroup && this.#meter!.read({ exitCode: 0, signal: null }, undefined);
  }

  /** bwrap reports the signal of its program as an exit code only. */
  signalOf({ exitCode, signal }: Exit, stopReason: StopReason | undefined): string | null {
    return signal ?? (this.sessionIsolation && stopReason ? signalOfExitCode(exitCode) : null);
  }

  /** Processes of the sandbox program itself are no leftovers of a command. */
  isSandboxProcess(commandLine: string): boolean {
    return this.sessionIsolation?.isSandboxProcess(commandLine) ?? false;
  }
}
