// One session: its state, its running command and its leftover processes. It runs one command at a time.

import type { ProcessEntry } from "../../platform/process-table.ts";
import { TrlError } from "../../protocol/errors.ts";
import type { RunResult, StreamParams } from "../../protocol/exec.ts";
import type { SessionState as StateName } from "../../protocol/session.ts";
import type { SessionState } from "../../upgrade/schema/commands.ts";
import type { Unpacking } from "../../upgrade/schema/fields.ts";
import { newId } from "../../util/ids.ts";
import { Command, type CommandOutcome } from "../command/command.ts";
import { CommandOutput } from "../command/output.ts";
import { failureBefore, gather } from "../command/result.ts";
import { resumeCommand } from "../command/resume-command.ts";
import type { Launched } from "../command/runners/runner.ts";
import { type CommandDetails, type CommandRecord, shownText } from "../command/store.ts";
import { effectiveTimeoutS } from "../command/timeout-rule.ts";
import { MeteredRun } from "../isolation/metered-run.ts";
import { ReceiptTotals } from "../isolation/receipt.ts";
import { type Expiry, expiryOf, type Lifetime } from "../lifetime/expiry.ts";
import { Instant } from "../lifetime/instant.ts";
import { LeftoverPipes } from "../process/leftover-pipes.ts";
import { PipeWriter } from "../process/pipe-writer.ts";
import { terminate } from "../process/terminate.ts";
import { requireDescriptors, requireMemoryFor } from "../resources.ts";
import { refuseIfUnavailable } from "./admission.ts";
import type { SessionSpec } from "./session-spec.ts";

export type CommandParams = Omit<StreamParams, "session_id">;

export interface StartedCommand {
  command: Command;
  /** Resolves after the session has taken over what the command changed. */
  ended: Promise<CommandOutcome>;
}

export type Phase =
  | { state: "creating" }
  | { state: "idle" }
  | ({ state: "running" } & StartedCommand)
  | { state: "terminated" };

/** Shared by all idle sessions. */
const idle: Phase = { state: "idle" };

const transitions: Record<StateName, readonly StateName[]> = {
  creating: ["idle", "running", "terminated"],
  idle: ["running", "terminated"],
  running: ["idle", "terminated"],
  terminated: [],
};

/** The only way from one state of a session to another. */
export function advance(from: Phase, to: Phase): Phase {
  if (!transitions[from.state].includes(to.state)) {
    throw new Error(`a session cannot go from ${from.state} to ${to.state}`);
  }
  return to;
}

export class Session {
  readonly createdAt: Instant;
  #lastActivity: Instant;
  #phase: Phase;
  readonly totals = new ReceiptTotals();
  #commandCount: number;
  /** Weak, so that the session retains no output of an ended command. Readers hold the output themselves. */
  #lastOutput: WeakRef<CommandOutput> | undefined;
  readonly lingering: LeftoverPipes;
  #destroyed: Promise<number[]> | undefined;

  /** `before` is the state that an upgrade hands over. */
  constructor(
    readonly spec: SessionSpec,
    before?: SessionState,
  ) {
    const cgroup = spec.sessionIsolation?.cgroup;
    spec.context.ownership.addSession(spec.id, cgroup && (() => cgroup.members()));
    this.createdAt = new Instant(before?.createdAt, before?.createdSteadyMs);
    this.#lastActivity = new Instant(before?.lastActivity, before?.lastActivitySteadyMs);
    this.#commandCount = before?.commandCount ?? 0;
    this.#phase = before ? idle : { state: "creating" };
    this.lingering = new LeftoverPipes(before?.lingeringFds ?? []);
    if (before) this.totals.add(before.totals);
  }

  /** True while the session can be serialized for an upgrade. */
  get isAtRest(): boolean {
    if (this.#destroyed || this.#phase.state === "creating" || !this.spec.runner.isAtRest) return false;
    return this.runningCommand?.isAtRest ?? true;
  }

  /** Continues the command that ran during an upgrade. */
  resume({ command: state, ...details }: NonNullable<SessionState["running"]>, given: Unpacking): void {
    const { runner, sessionIsolation, context } = this.spec;
    const { ownership } = context;
    ownership.addRoot(state.pid, { sessionId: this.id, commandId: state.id });
    const command = resumeCommand(state, given, new MeteredRun(sessionIsolation, state.meter), ownership);
    this.#track(command, details, (outcome) => {
      runner.settleResumed(outcome);
      return true;
    });
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

  get state(): Phase["state"] {
    return this.#phase.state;
  }

  get lastActivity(): Instant {
    return this.#lastActivity;
  }

  /** Restarts the idle timeout. */
  touch(): void {
    this.#lastActivity = new Instant();
  }

  get expiry(): Expiry | undefined {
    return expiryOf(this.lifetime);
  }

  /** A session is also in use while a subscriber reads the output of its last command. */
  get lifetime(): Lifetime {
    const { createdAt, lastActivity, spec } = this;
    const { idleTimeoutS, maxAgeS } = spec;
    const isInUse = this.isRunning || (this.#lastOutput?.deref()?.hasReaders ?? false);
    return { createdAt, lastActivity, idleTimeoutS, maxAgeS, isInUse };
  }

  /** Completes the creation: runs `init`, if given, before any other command. */
  async open(init: string | undefined): Promise<RunResult | undefined> {
    if (init !== undefined) {
      const result = await this.#gather(this.#start({ command: init }, "run"), {});
      if (this.#phase.state === "terminated")
        throw new TrlError("SESSION_NOT_FOUND", "the session was destroyed meanwhile");
      return result;
    }
    this.#phase = advance(this.#phase, idle);
    return undefined;
  }

  run(params: CommandParams): Promise<RunResult> {
    return this.#gather(this.start(params, "run"), params);
  }

  start(params: CommandParams, kind: CommandRecord["kind"]): StartedCommand {
    if (params.command_id !== undefined) this.spec.context.commands.refuseTaken(params.command_id);
    refuseIfUnavailable(this);
    const started = this.#start(params, kind);
    this.#commandCount++;
    return started;
  }

  get runningCommand(): Command | undefined {
    return this.#phase.state === "running" ? this.#phase.command : undefined;
  }

  /** Ends all processes of the session. Resolves with the pids of those that could not be killed. */
  destroy(graceMs: number): Promise<number[]> {
    const { sessionIsolation, context } = this.spec;
    const whileFrozen =
      sessionIsolation?.cgroup && ((act: () => Promise<void>) => sessionIsolation.cgroup!.whileFrozen(act));
    this.#destroyed ??= this.#destroy(
      terminate(context.ownership, { sessionId: this.id }, { graceMs, whileFrozen }),
    );
    return this.#destroyed;
  }

  /** The same at shutdown, where one termination ends the processes of all sessions. */
  destroyAlongside(allEnded: Promise<ProcessEntry[]>): Promise<number[]> {
    this.#destroyed ??= this.#destroy(allEnded);
    return this.#destroyed;
  }

  async #gather(
    { command, ended }: StartedCommand,
    { encoding = "utf8" }: Pick<CommandParams, "encoding">,
  ): Promise<RunResult> {
    const outcome = await ended;
    return {
      ...gather(command.output, outcome, encoding),
      command_id: command.id,
      working_dir: this.spec.runner.workingDir,
    };
  }

  #start(params: CommandParams, kind: CommandRecord["kind"]): StartedCommand {
    const { name, runner, timeoutS, context } = this.spec;
    const { ownership, log, commands, options } = context;
    const id = params.command_id ?? newId("x", (taken) => commands.has(taken));
    const outputBytes = params.max_output_bytes ?? options.maxOutputBytes;
    requireDescriptors();
    requireMemoryFor(outputBytes);
    const meteredRun = new MeteredRun(this.spec.sessionIsolation); // before the start: counters begin here
    const launched = runner.launch({
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
      canBeHandedOver: launched.canBeHandedOver,
      mayHandleSignals: launched.mayHandleSignals,
      ownership,
      timeoutS: effectiveTimeoutS(params.command, params.timeout_s, timeoutS),
      output: CommandOutput.keeping(outputBytes),
      input,
      metering: meteredRun,
    });
    const details = { text: shownText(params.command), sessionId: this.id, sessionName: name, kind };
    const ended = this.#track(command, details, launched.settle);
    this.touch();
    log.debug("command started", { session: this.id, command: id });
    launched.begin();
    return { command, ended };
  }

  #track(command: Command, details: CommandDetails, settle: Launched["settle"]): Promise<CommandOutcome> {
    const { runner, context } = this.spec;
    const ended = command.ended.then((outcome) => this.#finish(command, settle, outcome));
    this.#phase = advance(this.#phase, { state: "running", command, ended });
    this.#lastOutput = new WeakRef(command.output);
    const settled = ended.then(() => ({ workingDir: runner.workingDir }));
    context.commands.add(
      { ...details, owner: this.spec.owner, command, endedAt: undefined, settled },
      command,
    );
    return ended;
  }

  #finish(command: Command, settle: Launched["settle"], outcome: CommandOutcome): CommandOutcome {
    const hasBegun = settle(outcome);
    if (!hasBegun && (outcome.reason === "exit" || outcome.reason === "signal"))
      outcome.failure = failureBefore(this.spec.shell, command.output, outcome);
    this.totals.add(outcome.receipt);
    command.input?.end();
    command.output.complete();
    if (this.#phase.state !== "terminated") this.#phase = advance(this.#phase, idle);
    this.touch();
    this.lingering.add(command.pipes);
    const { exitCode, reason, durationMs, failure } = outcome;
    const ids = { session: this.id, command: command.id };
    if (failure !== undefined) this.spec.context.log.warn("a command did not begin", { ...ids, exitCode });
    else this.spec.context.log.debug("command ended", { ...ids, reason, exitCode, durationMs });
    return outcome;
  }

  async #destroy(processesEnded: Promise<ProcessEntry[]>): Promise<number[]> {
    const { runner, sessionIsolation, context } = this.spec;
    const phase = this.#phase;
    this.#phase = advance(phase, { state: "terminated" });
    if (phase.state === "running") phase.command.endedBy("cancelled", processesEnded);
    const disposed = runner.dispose();
    const survivors = await processesEnded;
    await disposed;
    if (phase.state === "running") await phase.ended;
    await this.lingering.stop();
    // After the command's end, which reads its receipt from the control group.
    if ((await sessionIsolation?.dispose()) === false)
      context.log.error("the isolation of the session could not be removed", { session: this.id });
    context.ownership.removeSession(this.id);
    return survivors.map(({ pid }) => pid);
  }
}
