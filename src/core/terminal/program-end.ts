// What is known of the end of a terminal's program: why it ended and what it used.

import { type ProcessEntry, processTable } from "../../platform/process-table.ts";
import type { ProcessUsage } from "../../platform/process-usage.ts";
import type { ExitReason } from "../../protocol/exec.ts";
import type { Receipt } from "../../protocol/isolation.ts";
import type { MeterState } from "../../upgrade/schema/commands.ts";
import type { TerminalState } from "../../upgrade/schema/terminals.ts";
import { measuredByProcess } from "../isolation/meter.ts";
import { MeteredRun, type StopReason } from "../isolation/metered-run.ts";
import { receiptOf } from "../isolation/receipt.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
import type { PtyExit } from "./drivers/driver.ts";

export class ProgramEnd {
  reason: ExitReason | undefined;
  receipt: Receipt | undefined;
  readonly #keep: MeteredRun;
  #stopReason: StopReason | undefined;
  #endWatch = () => {};

  /** To be made before the program is started. */
  constructor(
    readonly sessionIsolation: SessionIsolation | undefined,
    begun?: MeterState,
  ) {
    this.#keep = new MeteredRun(sessionIsolation, begun);
  }

  pack(): MeterState | undefined {
    return this.#keep.pack();
  }

  /** The program runs, since `elapsedMs` ago; `stop` ends it when a limit is reached. */
  watch(stop: () => void, elapsedMs: number): void {
    this.#endWatch = this.#keep.watch((reason) => {
      this.stopped(reason);
      stop();
    }, elapsedMs);
  }

  /** Under another program. */
  wasEnded({ reason, receipt }: NonNullable<TerminalState["ended"]>): void {
    this.reason = reason;
    this.receipt = receipt;
  }

  /** The first reason counts. */
  stopped(reason: StopReason): void {
    if (this.reason === undefined) this.#stopReason ??= reason;
  }

  get whileFrozen(): MeteredRun["whileFrozen"] {
    return this.#keep.whileFrozen;
  }

  /** How it ended, as it is told. */
  ended(exit: PtyExit, usage: ProcessUsage | undefined, bytesOut: number, left: ProcessEntry[]): PtyExit {
    this.#endWatch();
    const measured = this.#keep.measure(exit, usage, this.#stopReason);
    this.reason = this.#stopReason ?? measured.reason ?? (exit.signal ? "signal" : "exit");
    const isOwn = ({ pid }: ProcessEntry) => !this.#keep.isSandboxProcess(processTable.commandLine(pid));
    this.receipt = receiptOf(measured, bytesOut, left.filter(isOwn).length);
    return { ...exit, signal: this.#keep.signalOf(exit, this.#stopReason) };
  }

  /** Of a program that runs, as far as something counts it. */
  receiptSoFar(bytesOut: number): Receipt {
    return receiptOf(this.#keep.measureSoFar() ?? measuredByProcess(undefined), bytesOut, 0);
  }

  async dispose(): Promise<void> {
    await this.sessionIsolation?.dispose();
  }
}
