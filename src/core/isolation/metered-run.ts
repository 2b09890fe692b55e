// One command, or one terminal's program, in what its session is kept in, if it is in anything: the limits that the
// daemon itself sees to, and what is known of its end.

import type { ProcessUsage } from "../../platform/process-usage.ts";
import type { ExitReason } from "../../protocol/exec.ts";
import type { HitName } from "../../protocol/isolation.ts";
import type { MeterState } from "../../upgrade/schema/commands.ts";
import { afterSeconds, leftOf } from "../../util/long-timer.ts";
import { signalOfExitCode } from "../../util/signal-name.ts";
import { type Exit, type Measured, type Meter, measuredByProcess } from "./meter.ts";
import type { SessionIsolation } from "./session-isolation.ts";

export type LimitReason = Extract<ExitReason, "wall_clock_limit" | "cpu_time_limit">;
/** Why the daemon itself ends something. */
export type StopReason = LimitReason | "timeout" | "cancelled";

const hitBy: Partial<Record<StopReason, HitName>> = {
  wall_clock_limit: "wall_clock",
  cpu_time_limit: "cpu_time",
};

export class MeteredRun {
  readonly #meter: Meter | undefined;

  /** To be made before anything is started: what is measured begins here. */
  constructor(
    readonly sessionIsolation: SessionIsolation | undefined,
    begun?: MeterState,
  ) {
    this.#meter = sessionIsolation?.meter(begun);
  }

  pack(): MeterState | undefined {
    return this.#meter?.pack();
  }

  /** Calls back when a limit is reached; returns what ends the watch. `elapsedMs` has passed before. */
  watch(reached: (reason: LimitReason) => void, elapsedMs = 0): () => void {
    if (!this.sessionIsolation) return () => {};
    const wallClockS = this.sessionIsolation.limits.wall_clock_s ?? 0;
    const disarm = afterSeconds(leftOf(wallClockS, elapsedMs), () => reached("wall_clock_limit"));
    const endWatch = this.#meter!.watchCpuTime(() => reached("cpu_time_limit"));
    return () => {
      disarm();
      endWatch();
    };
  }

  /** Keeps everybody inside from forking away while they are killed, where something can. */
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

  /** While it runs; undefined where nothing counts it. */
  measureSoFar(): Measured | undefined {
    return this.sessionIsolation?.cgroup && this.#meter!.read({ exitCode: 0, signal: null }, undefined);
  }

  /** What is in a sandbox is waited for by another process, which passes on the number alone. */
  signalOf({ exitCode, signal }: Exit, stopReason: StopReason | undefined): string | null {
    return signal ?? (this.sessionIsolation && stopReason ? signalOfExitCode(exitCode) : null);
  }

  /** What keeps a program is no leftover of it. */
  isMachinery(commandLine: string): boolean {
    return this.sessionIsolation?.isMachinery(commandLine) ?? false;
  }
}
