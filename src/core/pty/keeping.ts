// What a terminal's program is kept in, and what is known of its end: why it ended and what it used.
import type { ExitReason } from "../../protocol/exec.ts";
import type { HitName, Receipt } from "../../protocol/isolation.ts";
import { afterSeconds } from "../../util/long-timer.ts";
import type { Enclosure } from "../isolation/enclosure.ts";
import { type Measured, type Meter, measuredByProcess, type ProcessUsage } from "../isolation/meter.ts";
import { receiptOf } from "../isolation/receipt.ts";
import { type ProcessEntry, processTable } from "../process/process-table.ts";
import { signalOf } from "../process/signal-of.ts";
import type { PtyExit } from "./driver.ts";

type StopReason = "cancelled" | "wall_clock_limit" | "cpu_time_limit";
const hitBy: Partial<Record<StopReason, HitName>> = {
  wall_clock_limit: "wall_clock",
  cpu_time_limit: "cpu_time",
};

export class Keeping {
  reason: ExitReason | undefined;
  receipt: Receipt | undefined;
  readonly #meter: Meter | undefined;
  #stopReason: StopReason | undefined;
  #disarm = () => {};

  /** To be made before the program is started. */
  constructor(readonly enclosure: Enclosure | undefined) {
    this.#meter = enclosure?.meter();
  }

  /** The program runs; `stop` ends it when a limit is reached. */
  watch(stop: () => void): void {
    const stopFor = (reason: StopReason) => {
      this.stopped(reason);
      stop();
    };
    const wallClockS = this.enclosure?.limits.wall_clock_s ?? 0;
    const disarmWallClock = afterSeconds(wallClockS, () => stopFor("wall_clock_limit"));
    const endWatch = this.#meter?.watchCpuTime(() => stopFor("cpu_time_limit"));
    this.#disarm = () => {
      disarmWallClock();
      endWatch?.();
    };
  }

  /** The first reason counts. */
  stopped(reason: StopReason): void {
    if (this.reason === undefined) this.#stopReason ??= reason;
  }

  whileFrozen(): ((act: () => void) => Promise<void>) | undefined {
    const cgroup = this.enclosure?.cgroup;
    return cgroup && ((act) => cgroup.whileFrozen(act));
  }

  /** How it ended, as it is told: what is in a sandbox is waited for by another process, which knows the number alone. */
  ended(exit: PtyExit, usage: ProcessUsage | undefined, bytesOut: number, left: ProcessEntry[]): PtyExit {
    this.#disarm();
    const measured = this.#meter?.read(exit, usage) ?? measuredByProcess(usage);
    const hit = this.#stopReason && hitBy[this.#stopReason];
    if (hit && !measured.limitsHit.includes(hit)) measured.limitsHit.push(hit);
    this.reason = this.#stopReason ?? measured.reason ?? (exit.signal ? "signal" : "exit");
    const isOwn = ({ pid }: ProcessEntry) => !this.enclosure?.isMachinery(processTable.commandLine(pid));
    this.receipt = receiptOf(measured, bytesOut, left.filter(isOwn).length);
    const isPassedOn = exit.signal === null && this.#stopReason !== undefined && this.enclosure !== undefined;
    return isPassedOn ? { ...exit, signal: signalOf(exit.exitCode) } : exit;
  }

  /** So far; undefined where nothing counts it. */
  measured(): Measured | undefined {
    return this.enclosure?.cgroup && this.#meter?.read({ exitCode: 0, signal: null }, undefined);
  }

  async dispose(): Promise<void> {
    await this.enclosure?.dispose();
  }
}
