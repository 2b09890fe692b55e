// One session: its identity, its state, the command that runs in it and the processes that it has left behind.
import { TrlError } from "../../protocol/errors.ts";
import type { RunResult, StreamParams } from "../../protocol/exec.ts";
import type { SessionInfo, SessionSummary } from "../../protocol/session.ts";
import { newId } from "../../util/ids.ts";
import { Command, type CommandOutcome } from "../exec/command.ts";
import { CommandOutput } from "../exec/command-output.ts";
import type { CommandRecord, CommandStore } from "../exec/command-store.ts";
import type { Executor, Launched } from "../exec/executor.ts";
import { gather } from "../exec/gather.ts";
import { effectiveTimeoutS } from "../exec/timeout-rule.ts";
import type { Log } from "../log.ts";
import type { Custody } from "../process/custody.ts";
import type { PipeReader } from "../process/pipe-reader.ts";
import { PipeWriter } from "../process/pipe-writer.ts";
import { terminate } from "../process/terminate.ts";
import { advance, type Phase } from "./state-machine.ts";

export interface SessionSpec {
  id: string;
  name: string | null;
  shell: string;
  timeoutS: number;
  idleTimeoutS: number;
  maxCommands: number;
  maxOutputBytes: number;
  executor: Executor;
  commands: CommandStore;
  custody: Custody;
  log: Log;
}

export class Session {
  readonly createdAt = new Date();
  #lastActivity = new Date();
  #phase: Phase = { state: "creating" };
  #commandCount = 0;
  /** Pipes of ended commands that a background process still holds open: they are read, and it is dropped. */
  #lingering = new Set<PipeReader>();
  #destroyed: Promise<void> | undefined;

  constructor(readonly spec: SessionSpec) {
    spec.custody.addSession(spec.id);
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

  get idleSeconds(): number {
    return this.isRunning ? 0 : (Date.now() - this.#lastActivity.getTime()) / 1000;
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
    this.#destroyed ??= this.#destroy(terminate(this.spec.custody, { sessionId: this.id }, { graceMs }));
    return this.#destroyed;
  }

  /** The same where all sessions end together, and their processes by one hand. */
  destroyAlongside(everybodysEnd: Promise<unknown>): Promise<void> {
    this.#destroyed ??= this.#destroy(everybodysEnd);
    return this.#destroyed;
  }

  summary(): SessionSummary {
    const { spec } = this;
    return {
      session_id: spec.id,
      name: spec.name,
      kind: "exec",
      shell: spec.shell,
      state: this.#phase.state,
      working_dir: spec.executor.workingDir,
      created_at: this.createdAt.toISOString(),
      last_activity: this.#lastActivity.toISOString(),
      command_count: this.#commandCount,
      timeout_s: spec.timeoutS,
      idle_timeout_s: spec.idleTimeoutS,
    };
  }

  info(): SessionInfo {
    const phase = this.#phase;
    const { executor, custody } = this.spec;
    return {
      ...this.summary(),
      env_keys: [...executor.exportedNames].sort(),
      stateful: executor.isStateful,
      running_command:
        phase.state === "running"
          ? { command_id: phase.command.id, started_at: phase.command.startedAt.toISOString() }
          : null,
      processes: custody.membersOf({ sessionId: this.id }).length,
    };
  }

  #refuseIfUnavailable(): void {
    const { maxCommands, id } = this.spec;
    const { state } = this.#phase;
    if (state === "terminated") throw new TrlError("SESSION_NOT_FOUND", `session ${id} has ended`);
    if (state === "running") throw new TrlError("SESSION_BUSY", `session ${id} is running a command`);
    if (maxCommands > 0 && this.#commandCount >= maxCommands) {
      throw new TrlError("SESSION_LIMIT_EXCEEDED", `session ${id} has run its ${maxCommands} commands`);
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
    const { executor, custody, log, timeoutS, commands } = this.spec;
    const id = params.command_id ?? newId("x", (taken) => commands.has(taken));
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
      custody,
      timeoutS: effectiveTimeoutS(params.command, params.timeout_s, timeoutS),
      output: new CommandOutput(params.max_output_bytes ?? this.spec.maxOutputBytes),
      input,
    });
    const ended = command.ended.then((outcome) => this.#finish(command, launched, outcome));
    this.#phase = advance(this.#phase, { state: "running", command, ended });
    this.#lastActivity = new Date();
    const settled = ended.then(() => ({ workingDir: executor.workingDir }));
    commands.add({ command, sessionId: this.id, kind, endedAt: undefined, settled });
    log.debug("command started", { session: this.id, command: id });
    launched.begin();
    return { command, ended };
  }

  #finish(command: Command, launched: Launched, outcome: CommandOutcome): CommandOutcome {
    launched.settle(outcome);
    command.input?.end();
    command.output.complete();
    if (this.#phase.state !== "terminated") this.#phase = advance(this.#phase, { state: "idle" });
    this.#lastActivity = new Date();
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
    const { executor, custody } = this.spec;
    const phase = this.#phase;
    this.#phase = advance(phase, { state: "terminated" });
    if (phase.state === "running") phase.command.endedBy("cancelled", processesEnd);
    const disposed = executor.dispose();
    await processesEnd;
    await disposed;
    if (phase.state === "running") await phase.ended;
    await Promise.all([...this.#lingering].map((pipe) => pipe.stop()));
    custody.removeSession(this.id);
  }
}

export type CommandParams = Omit<StreamParams, "session_id">;

export interface Started {
  command: Command;
  ended: Promise<CommandOutcome>;
}
