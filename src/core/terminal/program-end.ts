// How a terminal's program ended: the reason, and the receipt of what it used.

import { type ProcessEntry, processTable } from "../../platform/process-table.ts";
import type { ExitReason } from "../../protocol/exec.ts";
import type { Receipt } from "../../protocol/isolation.ts";
import type { MeterState } from "../../upgrade/schema/commands.ts";
import type { TerminalState } from "../../upgrade/schema/terminals.ts";
import { measuredByProcess, type ProcessUsage } from "../isolation/meter.ts";
import { MeteredRun, type StopReason } from "../isolation/metered-run.ts";
import { receiptOf } from "../isolation/receipt.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
import type { PtyExit } from "./drivers/driver.ts";

export class ProgramEnd {
  reason: ExitReason | undefined;
  receipt: Receipt | undefined;
  readonly #run: MeteredRun;
  #stopReason: StopReason | undefined;
  #endWatch = () => {};

  /** Must be constructed before the program starts: the counters begin here. */
  constructor(
    readonly sessionIsolation: SessionIsolation | undefined,
    meter?: MeterState,
  ) {
    this.#run = new MeteredRun(sessionIsolation, meter);
  }

  pack(): MeterState | undefined {
    return this.#run.pack();
  }

  /** Enforces the limits of a program that has run for `elapsedMs`; `stop` is called when it reaches one. */
  watch(stop: () => void, elapsedMs: number): void {
    this.#endWatch = this.#run.watch((reason) => {
      this.stopped(reason);
      stop();
    }, elapsedMs);
  }

  /** For a program that ended before an upgrade. */
  restore({ reason, receipt }: NonNullable<TerminalState["ended"]>): void {
    this.reason = reason;
    this.receipt = receipt;
  }

  /** The first reason counts. */
  stopped(reason: StopReason): void {
    if (this.reason === undefined) this.#stopReason ??= reason;
  }

  get whileFrozen(): MeteredRun["whileFrozen"] {
    return this.#run.whileFrozen;
  }

  /** Sets reason and receipt, and returns the exit as clients see it. */
  ended(exit: PtyExit, usage: ProcessUsage | undefined, bytesOut: number, left: ProcessEntry[]): PtyExit {
    this.#endWatch();
    const measured = this.#run.measure(exit, usage, this.#stopReason);
    this.reason = this.#stopReason ?? measured.reason ?? (exit.signal ? "signal" : "exit");
    const isOwn = ({ pid }: ProcessEntry) => !this.#run.isSandboxProcess(processTable.commandLine(pid));
    this.receipt = receiptOf(measured, bytesOut, left.filter(isOwn).length);
    return { ...exit, signal: this.#run.signalOf(exit, this.#stopReason) };
  }

  /** The receipt of a running program, as far as its usage is metered. */
  receiptSoFar(bytesOut: number): Receipt {
    return receiptOf(this.#run.measureSoFar() ?? measuredByProcess(undefined), bytesOut, 0);
  }

  async dispose(): Promise<void> {
    await this.sessionIsolation?.dispose();
  }
}
