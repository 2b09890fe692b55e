// One running command: its process, its output, its time limit and its end. The outcome is a result, never an
// exception; the first reason to end it wins.
import type { ExitReason } from "../../protocol/exec.ts";
import { afterSeconds } from "../../util/long-timer.ts";
import { commandGraceMs, drainMaxMs } from "../limits.ts";
import type { Custody } from "../process/custody.ts";
import { PipeReader, type Sink } from "../process/pipe-reader.ts";
import { type ProcessEntry, processTable } from "../process/process-table.ts";
import type { SpawnedProcess } from "../process/spawn.ts";
import { type Termination, terminate } from "../process/terminate.ts";

export interface CommandSpec {
  id: string;
  process: SpawnedProcess;
  custody: Custody;
  timeoutS: number;
  stdout: Sink;
  stderr: Sink;
}

export interface CommandOutcome {
  exitCode: number;
  signal: string | null;
  reason: ExitReason;
  durationMs: number;
  leftovers: { pid: number; command: string }[];
}

export class Command {
  readonly startedAt = new Date();
  /** The command's own process has ended, its output is drained and, where it was stopped, its tree is dead. */
  readonly ended: Promise<CommandOutcome>;
  readonly #spec: CommandSpec;
  readonly #stdout: PipeReader;
  readonly #stderr: PipeReader;
  #stopReason: "timeout" | "cancelled" | undefined;
  #stopping: Promise<unknown> | undefined;

  constructor(spec: CommandSpec) {
    this.#spec = spec;
    this.#stdout = new PipeReader(spec.process.stdoutFd, spec.stdout);
    this.#stderr = new PipeReader(spec.process.stderrFd, spec.stderr);
    this.ended = this.#follow();
  }

  get id(): string {
    return this.#spec.id;
  }

  /** Ends the tree of this command; background processes of earlier commands live on. */
  stop(reason: "timeout" | "cancelled", how: Termination = { graceMs: commandGraceMs }): void {
    this.endedBy(reason, terminate(this.#spec.custody, { commandId: this.id }, how));
  }

  /** For whoever ends its processes otherwise. The outcome is known when that is done. */
  endedBy(reason: "timeout" | "cancelled", termination: Promise<unknown>): void {
    this.#stopReason ??= reason;
    this.#stopping = Promise.all([this.#stopping, termination]);
  }

  /** Reads no more of what a background process left behind still prints. */
  async closeOutput(): Promise<void> {
    await Promise.all([this.#stdout.stop(), this.#stderr.stop()]);
  }

  /** Whether a background process still holds the output open. */
  get isOutputOpen(): boolean {
    return !this.#stdout.isEnded || !this.#stderr.isEnded;
  }

  async #follow(): Promise<CommandOutcome> {
    const { process, custody, timeoutS } = this.#spec;
    const began = performance.now();
    const disarm = afterSeconds(timeoutS, () => this.stop("timeout"));
    const { exitCode, signal } = await process.exited;
    const durationMs = Math.round(performance.now() - began);
    disarm();
    await this.#stopping;
    custody.removeRoot(process.pid);
    const deadline = performance.now() + drainMaxMs;
    await Promise.all([this.#stdout.drained(deadline), this.#stderr.drained(deadline)]);
    this.#stdout.discardRest();
    this.#stderr.discardRest();
    const leftovers = await describeLeftovers(() => custody.leftoversOf(this.id, process.pid));
    return {
      exitCode,
      signal,
      reason: this.#stopReason ?? (signal ? "signal" : "exit"),
      durationMs,
      leftovers,
    };
  }
}

/** A process that is just being started still looks like its shell: it is given a moment to become itself. */
async function describeLeftovers(find: () => ProcessEntry[]): Promise<CommandOutcome["leftovers"]> {
  let found = find().map(describe);
  if (found.some(({ command }) => isBeingStarted(command))) {
    await Bun.sleep(startingMs);
    found = find().map(describe);
  }
  return found.map(({ pid, command }) => ({ pid, command: command.replace(scriptOfShell, " (subshell)") }));
}

const describe = ({ pid }: ProcessEntry) => ({ pid, command: processTable.commandLine(pid) });
const startingMs = 3;
/** The script file of a prepared shell, as its forks show it. */
const scriptOfShell = / \/\S*\/trl-\d+-\w+\/\d+\/\w+$/;
const isBeingStarted = (command: string) => command.startsWith("[") || scriptOfShell.test(command);
