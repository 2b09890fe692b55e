// One running command: its process, its output, its time limit and its end. The outcome is a result, never an
// exception; the first reason to end it wins.
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
  /** Otherwise it is over, or begun, so soon that it is waited for. */
  canBeHandedOver: () => boolean;
  /** Otherwise it is a shell that a signal ends, and that may be told more than once. */
  mayHandleSignals: () => boolean;
  ownership: ProcessOwnership;
  timeoutS: number;
  output: CommandOutput;
  /** Where its input stays open. */
  input: PipeWriter | undefined;
  /** Made before the command was started. */
  keep: MeteredRun;
  /** Where another program has started it. */
  before?: { startedAt: Date; elapsedMs: number; lastSignal: NodeJS.Signals | undefined };
}

/** What can be known of a command, whether it runs or has ended long ago. */
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
  /** Nobody stopped or killed its shell: what that reports is the session's new state. */
  isOwnEnd: boolean;
  /** Also where it ended by itself: a shell that goes on may hear of it a moment later. Not told of the past. */
  wasSignalled?: boolean;
}

export class Command implements KnownCommand {
  readonly startedAt: Date;
  /** The command's own process has ended, its output is drained and, where it was stopped, its tree is dead. */
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

  /** Sends a signal and no more; if the command ends by it, it was cancelled. */
  signal(signal: NodeJS.Signals): void {
    this.#lastSignal = signal;
    if (!this.#goesOn) void this.#spec.ownership.slicer.run(this.#signal(signal));
  }

  *#signal(signal: NodeJS.Signals): Steps<void> {
    const { members } = yield* this.#spec.ownership.scanSteps({ commandId: this.id });
    yield* signalAll(members, signal);
  }

  /** Ends the tree of this command; background processes of earlier commands live on. */
  stop(reason: StopReason, how: Termination = { graceMs: commandGraceMs }): void {
    const { ownership, keep, mayHandleSignals } = this.#spec;
    const { whileFrozen } = keep;
    const plainShell = mayHandleSignals() ? undefined : this.pid;
    const end = () => terminate(ownership, { commandId: this.id }, { ...how, whileFrozen, plainShell });
    // A shell that goes on has nothing more to do with it.
    this.endedBy(reason, this.#goesOn ? Promise.resolve() : end());
  }

  /** For whoever ends its processes otherwise. The outcome is known when that is done. */
  endedBy(reason: StopReason, termination: Promise<unknown>): void {
    this.#stopReason ??= reason;
    this.#stopping = Promise.all([this.#stopping, termination]);
  }

  /** A background process may hold them open after the end. Those of a shell that goes on are for its next command. */
  get pipes(): PipeReader[] {
    return this.#goesOn ? [] : [this.#stdout, this.#stderr];
  }

  get #elapsedMs(): number {
    return performance.now() - this.#began;
  }

  /** It has ended and all is told, or it runs and nobody is about to stop it; and what was read of it is kept. */
  get isAtRest(): boolean {
    if (this.#outcome) return true;
    if (!this.#spec.canBeHandedOver()) return false;
    return !this.#isEnding && !this.#stopping && this.pipes.every((pipe) => pipe.isEnded || pipe.isAtRest);
  }

  /** Of one that runs. */
  pack(packing: Packing): RunningCommandState {
    const { process, timeoutS, keep, input, output, mayHandleSignals } = this.#spec;
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
      meter: keep.pack(),
      lastSignal: this.#lastSignal,
      mayHandleSignals: mayHandleSignals(),
    };
  }

  async #follow(): Promise<CommandOutcome> {
    const { process, ownership, keep, timeoutS } = this.#spec;
    const disarm = afterSeconds(leftOf(timeoutS, this.#elapsedMs), () => this.stop("timeout"));
    const endWatch = keep.watch((reason) => this.stop(reason), this.#elapsedMs);
    const exit = await process.exited;
    this.#isEnding = true;
    this.#goesOn = exit.goesOn === true;
    const { exitCode } = exit;
    const durationMs = Math.round(this.#elapsedMs);
    disarm();
    endWatch();
    if (this.#stopping) await this.#stopping;
    const signal = keep.signalOf(exit, this.#stopReason);
    this.output.finish(); // not before: what is being stopped may print without end until it is dead
    if (!this.#goesOn) await ownership.removeRoot(process.pid);
    await Promise.all([this.#stdout.drained(drainMaxMs), this.#stderr.drained(drainMaxMs)]);
    this.#stdout.discardRest();
    this.#stderr.discardRest();
    const leftovers = this.#goesOn ? [] : await this.#describeLeftovers();
    const measured = keep.measure({ exitCode, signal }, process.usage(), this.#stopReason);
    const reason = this.#reasonOf(exitCode, signal, measured);
    const { stdout, stderr } = this.output;
    const receipt = receiptOf(measured, stdout.totalBytes + stderr.totalBytes, leftovers.length);
    const isOwnEnd = this.#stopReason === undefined && signal === null && reason !== "cancelled";
    const wasSignalled = this.#stopReason !== undefined || this.#lastSignal !== undefined;
    this.#outcome = { exitCode, signal, reason, durationMs, leftovers, receipt, isOwnEnd, wasSignalled };
    return this.#outcome;
  }

  /** A process that is just being started still looks like its shell: it is given a moment to become itself. */
  async #describeLeftovers(): Promise<CommandOutcome["leftovers"]> {
    let found = await this.#spec.ownership.slicer.run(this.#lookForLeftovers());
    for (let looks = 1; looks < looksMax && found.some(({ command }) => isBeingStarted(command)); looks++) {
      await Bun.sleep(lookMs);
      found = await this.#spec.ownership.slicer.run(this.#lookForLeftovers());
    }
    return found.map(({ pid, command }) => ({ pid, command: command.replace(scriptOfShell, " (subshell)") }));
  }

  *#lookForLeftovers(): Steps<CommandOutcome["leftovers"]> {
    const { ownership, process, keep } = this.#spec;
    const found: CommandOutcome["leftovers"] = [];
    for (const { pid } of yield* ownership.leftoversOf(this.id, process.pid)) {
      const command = processTable.commandLine(pid);
      if (!keep.isSandboxProcess(command)) found.push({ pid, command });
      yield;
    }
    return found;
  }

  #reasonOf(exitCode: number, signal: string | null, { reason }: Measured): ExitReason {
    if (this.#stopReason) return this.#stopReason;
    if (reason) return reason;
    const asked = this.#lastSignal;
    // A shell whose command was signalled ends with 128 and the signal's number.
    const endedByIt = asked && (signal === asked || exitCode === 128 + constants.signals[asked]);
    return endedByIt ? "cancelled" : signal ? "signal" : "exit";
  }
}

const lookMs = 3;
const looksMax = 5;
/** The script file of a prepared shell, as its forks show it. */
const scriptOfShell = / \/\S*\/trl-\d+-\w+\/\d+\/\w+$/;
const isBeingStarted = (command: string) => command.startsWith("[") || scriptOfShell.test(command);
