// One running command: its process, output, time limit and outcome. The outcome is a result, never an exception; the first
// reason to stop it wins.
import { constants } from "node:os";
import { processTable } from "../../platform/process-table.ts";
import type { ExitReason } from "../../protocol/exec.ts";
import type { Receipt } from "../../protocol/isolation.ts";
import type { RunningCommandState } from "../../upgrade/schema/commands.ts";
import type { Packing } from "../../upgrade/schema/fields.ts";
import { afterSeconds, leftOf } from "../../util/long-timer.ts";
import type { Measured } from "../isolation/meter.ts";
import type { MeteredRun, StopReason } from "../isolation/metered-run.ts";
import { receiptOf } from "../isolation/receipt.ts";
import { commandGraceMs, drainMaxMs } from "../limits.ts";
import type { ProcessOwnership } from "../process/ownership.ts";
import type { PipeReader } from "../process/pipe-reader.ts";
import type { PipeWriter } from "../process/pipe-writer.ts";
import { signalAll } from "../process/signal-all.ts";
import type { SpawnedProcess } from "../process/spawn.ts";
import { type Termination, terminate } from "../process/terminate.ts";
import type { Steps } from "../process/time-slicer.ts";
import type { CommandOutput } from "./output.ts";

export interface CommandSpec {
  id: string;
  process: SpawnedProcess;
  /** False for a command that an upgrade waits for: it ends, or begins, soon. */
  canBeHandedOver: () => boolean;
  /** False for a shell without handlers: a signal ends it, and may be sent more than once. */
  mayHandleSignals: () => boolean;
  ownership: ProcessOwnership;
  timeoutS: number;
  output: CommandOutput;
  /** Absent where the command has no input. */
  input: PipeWriter | undefined;
  /** Created before the process, so that it sees all of its usage. */
  metering: MeteredRun;
  /** From before an upgrade. */
  before?: { startedAt: Date; elapsedMs: number; lastSignal: NodeJS.Signals | undefined };
}

/** A command that runs or has ended. */
export interface KnownCommand {
  readonly id: string;
  readonly pid: number;
  readonly startedAt: Date;
  readonly output: CommandOutput;
  readonly input: PipeWriter | undefined;
  /** Undefined while it runs. */
  readonly outcome: CommandOutcome | undefined;
  signal(signal: NodeJS.Signals): void;
  stop(reason: StopReason): void;
}

export interface CommandOutcome {
  exitCode: number;
  signal: string | null;
  reason: ExitReason;
  durationMs: number;
  leftovers: { pid: number; command: string }[];
  receipt: Receipt;
  /** The shell was neither stopped nor killed: its report is the session's new state. */
  isOwnEnd: boolean;
  /** Also where the command ended by itself: the signal may reach a shell that goes on later. Absent after an upgrade. */
  wasSignalled?: boolean;
  /** The shell ended before the command began; what it said. */
  failure?: string;
}

export class Command implements KnownCommand {
  readonly startedAt: Date;
  /** Resolves when its own process has ended, its output is drained and, where it was stopped, its tree is dead. */
  readonly ended: Promise<CommandOutcome>;
  readonly #spec: CommandSpec;
  readonly #stdout: PipeReader;
  readonly #stderr: PipeReader;
  #stopReason: StopReason | undefined;
  #stopping: Promise<unknown> | undefined;
  #lastSignal: NodeJS.Signals | undefined;
  #outcome: CommandOutcome | undefined;
  readonly #began: number;
  #isEnding = false;
  #goesOn = false;

  constructor(spec: CommandSpec) {
    this.#spec = spec;
    this.startedAt = spec.before?.startedAt ?? new Date();
    this.#lastSignal = spec.before?.lastSignal;
    this.#began = performance.now() - (spec.before?.elapsedMs ?? 0);
    const { stdout, stderr } = spec.process.output.open();
    stdout.deliverTo(spec.output.sinkOf("stdout"));
    stderr.deliverTo(spec.output.sinkOf("stderr"));
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.ended = this.#follow();
  }

  get id(): string {
    return this.#spec.id;
  }

  get pid(): number {
    return this.#spec.process.pid;
  }

  get output(): CommandOutput {
    return this.#spec.output;
  }

  get input(): PipeWriter | undefined {
    return this.#spec.input;
  }

  /** Undefined while it runs. */
  get outcome(): CommandOutcome | undefined {
    return this.#outcome;
  }

  /** Sends a signal. If it ends the command, the reason is "cancelled". */
  signal(signal: NodeJS.Signals): void {
    this.#lastSignal = signal;
    if (!this.#goesOn) void this.#spec.ownership.slicer.run(this.#signal(signal));
  }

  *#signal(signal: NodeJS.Signals): Steps<void> {
    const { members } = yield* this.#spec.ownership.scanSteps({ commandId: this.id });
    yield* signalAll(members, signal);
  }

  /** Terminates the process tree of this command; background processes of earlier commands live on. */
  stop(reason: StopReason, how: Termination = { graceMs: commandGraceMs }): void {
    const { ownership, metering, mayHandleSignals } = this.#spec;
    const { whileFrozen } = metering;
    const plainShell = mayHandleSignals() ? undefined : this.pid;
    const end = () => terminate(ownership, { commandId: this.id }, { ...how, whileFrozen, plainShell });
    // After an in-place run the shell does not belong to the command any more.
    this.endedBy(reason, this.#goesOn ? Promise.resolve() : end());
  }

  /** The caller terminates the processes. The outcome waits for it. */
  endedBy(reason: StopReason, termination: Promise<unknown>): void {
    this.#stopReason ??= reason;
    this.#stopping = Promise.all([this.#stopping, termination]);
  }

  /** A background process may hold them open after the end. The pipes of a shell that goes on are for its next command. */
  get pipes(): PipeReader[] {
    return this.#goesOn ? [] : [this.#stdout, this.#stderr];
  }

  get #elapsedMs(): number {
    return performance.now() - this.#began;
  }

  /** Ready for an upgrade: it has an outcome, or it runs without a pending stop and all that was read is in the logs. */
  get isAtRest(): boolean {
    if (this.#outcome) return true;
    if (!this.#spec.canBeHandedOver()) return false;
    return !this.#isEnding && !this.#stopping && this.pipes.every((pipe) => pipe.isEnded || pipe.isAtRest);
  }

  /** Of a running command. */
  pack(packing: Packing): RunningCommandState {
    const { process, timeoutS, metering, input, output, mayHandleSignals } = this.#spec;
    const [stdoutFd, stderrFd] = this.pipes.map((pipe) =>
      pipe.isEnded ? undefined : packing.descriptor(pipe.fd),
    );
    return {
      id: this.id,
      pid: process.pid,
      startedAt: this.startedAt.getTime(),
      timeoutS,
      elapsedMs: this.#elapsedMs,
      output: output.pack(packing),
      stdoutFd,
      stderrFd,
      input: input?.pack(packing),
      meter: metering.pack(),
      lastSignal: this.#lastSignal,
      mayHandleSignals: mayHandleSignals(),
    };
  }

  async #follow(): Promise<CommandOutcome> {
    const { process, ownership, metering, timeoutS } = this.#spec;
    const disarm = afterSeconds(leftOf(timeoutS, this.#elapsedMs), () => this.stop("timeout"));
    const endWatch = metering.watch((reason) => this.stop(reason), this.#elapsedMs);
    const exit = await process.exited;
    this.#isEnding = true;
    this.#goesOn = exit.goesOn === true;
    const { exitCode } = exit;
    const durationMs = Math.round(this.#elapsedMs);
    disarm();
    endWatch();
    if (this.#stopping) await this.#stopping;
    const signal = metering.signalOf(exit, this.#stopReason);
    this.output.finish(); // not before: a command that is being stopped may print until it is dead
    if (!this.#goesOn) await ownership.removeRoot(process.pid);
    await Promise.all([this.#stdout.drained(drainMaxMs), this.#stderr.drained(drainMaxMs)]);
    this.#stdout.discardRest();
    this.#stderr.discardRest();
    const leftovers = this.#goesOn ? [] : await this.#describeLeftovers();
    const measured = metering.measure({ exitCode, signal }, process.usage(), this.#stopReason);
    const reason = this.#reasonOf(exitCode, signal, measured);
    const { stdout, stderr } = this.output;
    const receipt = receiptOf(measured, stdout.totalBytes + stderr.totalBytes, leftovers.length);
    const isOwnEnd = this.#stopReason === undefined && signal === null && reason !== "cancelled";
    const wasSignalled = this.#stopReason !== undefined || this.#lastSignal !== undefined;
    this.#outcome = { exitCode, signal, reason, durationMs, leftovers, receipt, isOwnEnd, wasSignalled };
    return this.#outcome;
  }

  /** Between fork and exec a process still shows the command line of its shell, so such a process is read again. */
  async #describeLeftovers(): Promise<CommandOutcome["leftovers"]> {
    let found = await this.#spec.ownership.slicer.run(this.#lookForLeftovers());
    for (let looks = 1; looks < looksMax && found.some(({ command }) => isBeingStarted(command)); looks++) {
      await Bun.sleep(lookMs);
      found = await this.#spec.ownership.slicer.run(this.#lookForLeftovers());
    }
    return found.map(({ pid, command }) => ({ pid, command: command.replace(scriptOfShell, " (subshell)") }));
  }

  *#lookForLeftovers(): Steps<CommandOutcome["leftovers"]> {
    const { ownership, process, metering } = this.#spec;
    const found: CommandOutcome["leftovers"] = [];
    for (const { pid } of yield* ownership.leftoversOf(this.id, process.pid)) {
      const command = processTable.commandLine(pid);
      if (!metering.isSandboxProcess(command)) found.push({ pid, command });
      yield;
    }
    return found;
  }

  #reasonOf(exitCode: number, signal: string | null, { reason }: Measured): ExitReason {
    if (this.#stopReason) return this.#stopReason;
    if (reason) return reason;
    const asked = this.#lastSignal;
    // A shell exits with 128 + n when signal n ended its command.
    const endedByIt = asked && (signal === asked || exitCode === 128 + constants.signals[asked]);
    return endedByIt ? "cancelled" : signal ? "signal" : "exit";
  }
}

const lookMs = 3;
const looksMax = 5;
/** The script file of a session shell, in the command line of its forks. */
const scriptOfShell = / \/\S*\/trl-\d+-\w+\/\d+\/\w+$/;
const isBeingStarted = (command: string) => command.startsWith("[") || scriptOfShell.test(command);
