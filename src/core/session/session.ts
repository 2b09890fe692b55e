// One session: its identity, its state, the command that runs in it and the processes that it has left behind.
import { TrlError } from "../../protocol/errors.ts";
import type { RunResult, StreamParams } from "../../protocol/exec.ts";
import type { SessionState } from "../../protocol/session.ts";
import { newId } from "../../util/ids.ts";
import { Command, type CommandOutcome } from "../exec/command.ts";
import { CommandOutput } from "../exec/command-output.ts";
import { type CommandRecord, type CommandStore, shownText } from "../exec/command-store.ts";
import type { Executor, Launched } from "../exec/executor.ts";
import { gather } from "../exec/gather.ts";
import { effectiveTimeoutS } from "../exec/timeout-rule.ts";
import type { Enclosure } from "../isolation/enclosure.ts";
import { Keep } from "../isolation/keep.ts";
import { ReceiptTotals } from "../isolation/receipt.ts";
import type { Log } from "../log.ts";
import type { Custody } from "../process/custody.ts";
import type { PipeReader } from "../process/pipe-reader.ts";
import { PipeWriter } from "../process/pipe-writer.ts";
import { terminate } from "../process/terminate.ts";
import { requireDescriptors, requireMemoryFor } from "../resources.ts";
import { type Expiry, expiryOf } from "./expiry.ts";
import { leftoverCount } from "./process-count.ts";
import { advance, type Phase } from "./state-machine.ts";

export interface SessionSpec {
  id: string;
  name: string | null;
  shell: string;
  timeoutS: number;
  idleTimeoutS: number;
  maxAgeS: number;
  maxCommands: number;
  maxProcesses: number;
  maxOutputBytes: number;
  executor: Executor;
  enclosure: Enclosure | undefined;
  commands: CommandStore;
  custody: Custody;
  log: Log;
}

export class Session {
  readonly createdAt = new Date();
  #lastActivity = new Date();
  #phase: Phase = { state: "creating" };
  readonly totals = new ReceiptTotals();
  #commandCount = 0;
  #lastCommand: Command | undefined;
  /** Pipes of ended commands that a background process still holds open: they are read, and it is dropped. */
  #lingering = new Set<PipeReader>();
  #destroyed: Promise<void> | undefined;

  constructor(readonly spec: SessionSpec) {
    const cgroup = spec.enclosure?.cgroup;
    spec.custody.addSession(spec.id, cgroup && (() => cgroup.members()));
  }

  get id(): string {
    return this.spec.id;
  }

  get isRunning(): boolean {
    return this.#phase.state === "running";
  }

  get commandCount(): number {
    return this.#commandCount;
  }

  get state(): SessionState {
    return this.#phase.state;
  }

  get lastActivity(): Date {
    return this.#lastActivity;
  }

  /** Somebody uses it, if not by running a command. */
  touch(): void {
    this.#lastActivity = new Date();
  }

  /** Also who is still reading what an ended command has printed is attached. */
  get expiry(): Expiry | undefined {
    const { createdAt, lastActivity, spec } = this;
    const isInUse = this.isRunning || (this.#lastCommand?.output.hasReaders ?? false);
    return expiryOf({
      createdAt,
      lastActivity,
      idleTimeoutS: spec.idleTimeoutS,
      maxAgeS: spec.maxAgeS,
      isInUse,
    });
  }

  /** Ends the creation: runs `init`, if there is one, before any other command. */
  async open(init: string | undefined): Promise<RunResult | undefined> {
    if (init !== undefined) {
      const result = await this.#gather(this.#start({ command: init }, "run"), {});
      if (this.#phase.state === "terminated")
        throw new TrlError("SESSION_NOT_FOUND", "the session was destroyed meanwhile");
      return result;
    }
    this.#phase = advance(this.#phase, { state: "idle" });
    return undefined;
  }

  run(params: CommandParams): Promise<RunResult> {
    return this.#gather(this.start(params, "run"), params);
  }

  /** Lets a command run; `ended` comes after the session has taken over what the command changed. */
  start(params: CommandParams, kind: CommandRecord["kind"]): Started {
    if (params.command_id !== undefined) this.spec.commands.refuseTaken(params.command_id);
    this.#refuseIfUnavailable();
    const started = this.#start(params, kind);
    this.#commandCount++;
    return started;
  }

  /** The command that runs now. */
  get runningCommand(): Command | undefined {
    return this.#phase.state === "running" ? this.#phase.command : undefined;
  }

  /** Everything that the session started is dead when this resolves. */
  destroy(graceMs: number): Promise<void> {
    const { custody, enclosure } = this.spec;
    const whileFrozen = enclosure?.cgroup && ((act: () => void) => enclosure.cgroup!.whileFrozen(act));
    this.#destroyed ??= this.#destroy(terminate(custody, { sessionId: this.id }, { graceMs, whileFrozen }));
    return this.#destroyed;
  }

  /** The same where all sessions end together, and their processes by one hand. */
  destroyAlongside(everybodysEnd: Promise<unknown>): Promise<void> {
    this.#destroyed ??= this.#destroy(everybodysEnd);
    return this.#destroyed;
  }

  #refuseIfUnavailable(): void {
    const { maxCommands, maxProcesses, id } = this.spec;
    const { state } = this.#phase;
    if (state === "terminated") throw new TrlError("SESSION_NOT_FOUND", `session ${id} has ended`);
    if (state === "running") throw new TrlError("SESSION_BUSY", `session ${id} is running a command`);
    if (maxCommands > 0 && this.#commandCount >= maxCommands) {
      throw new TrlError("SESSION_LIMIT_EXCEEDED", `session ${id} has run its ${maxCommands} commands`);
    }
    const left = maxProcesses > 0 ? leftoverCount(this.spec) : 0;
    if (maxProcesses > 0 && left >= maxProcesses) {
      throw new TrlError(
        "RESOURCE_PRESSURE",
        `session ${id} has ${left} processes running, the limit is ${maxProcesses}`,
      );
    }
  }

  async #gather(
    { command, ended }: Started,
    { encoding = "utf8" }: Pick<CommandParams, "encoding">,
  ): Promise<RunResult> {
    const outcome = await ended;
    return {
      ...gather(command.output, outcome, encoding),
      command_id: command.id,
      working_dir: this.spec.executor.workingDir,
    };
  }

  #start(params: CommandParams, kind: CommandRecord["kind"]): Started {
    const { name, executor, custody, log, timeoutS, commands } = this.spec;
    const id = params.command_id ?? newId("x", (taken) => commands.has(taken));
    const outputBytes = params.max_output_bytes ?? this.spec.maxOutputBytes;
    requireDescriptors();
    requireMemoryFor(outputBytes);
    const keep = new Keep(this.spec.enclosure);
    const launched = executor.launch({
      commandId: id,
      command: params.command,
      env: params.env ?? {},
      workingDir: params.working_dir,
      wantsStdin: params.stdin !== undefined || params.open_stdin === true,
    });
    const input = launched.stdinFd === undefined ? undefined : new PipeWriter(launched.stdinFd);
    input?.write(Buffer.from(params.stdin ?? ""));
    if (!params.open_stdin) input?.end();
    const command = new Command({
      id,
      process: launched.process,
      mayHandleSignals: launched.mayHandleSignals,
      custody,
      timeoutS: effectiveTimeoutS(params.command, params.timeout_s, timeoutS),
      output: new CommandOutput(outputBytes),
      input,
      keep,
    });
    const ended = command.ended.then((outcome) => this.#finish(command, launched, outcome));
    this.#phase = advance(this.#phase, { state: "running", command, ended });
    this.touch();
    this.#lastCommand = command;
    const text = shownText(params.command);
    const settled = ended.then(() => ({ workingDir: executor.workingDir }));
    commands.add({ command, text, sessionId: this.id, sessionName: name, kind, endedAt: undefined, settled });
    log.debug("command started", { session: this.id, command: id });
    launched.begin();
    return { command, ended };
  }

  #finish(command: Command, launched: Launched, outcome: CommandOutcome): CommandOutcome {
    launched.settle(outcome);
    this.totals.add(outcome.receipt);
    command.input?.end();
    command.output.complete();
    if (this.#phase.state !== "terminated") this.#phase = advance(this.#phase, { state: "idle" });
    this.touch();
    for (const pipe of this.#lingering) if (pipe.isEnded) this.#lingering.delete(pipe);
    for (const pipe of command.pipes) if (!pipe.isEnded) this.#lingering.add(pipe);
    const { exitCode, reason, durationMs } = outcome;
    this.spec.log.debug("command ended", {
      session: this.id,
      command: command.id,
      reason,
      exitCode,
      durationMs,
    });
    return outcome;
  }

  async #destroy(processesEnd: Promise<unknown>): Promise<void> {
    const { executor, custody, enclosure, log } = this.spec;
    const phase = this.#phase;
    this.#phase = advance(phase, { state: "terminated" });
    if (phase.state === "running") phase.command.endedBy("cancelled", processesEnd);
    const disposed = executor.dispose();
    await processesEnd;
    await disposed;
    if (phase.state === "running") await phase.ended;
    await Promise.all([...this.#lingering].map((pipe) => pipe.stop()));
    // Not before: the command's receipt is read from it.
    if ((await enclosure?.dispose()) === false)
      log.error("what kept the session could not be removed", { session: this.id });
    custody.removeSession(this.id);
  }
}

export type CommandParams = Omit<StreamParams, "session_id">;

export interface Started {
  command: Command;
  ended: Promise<CommandOutcome>;
}
