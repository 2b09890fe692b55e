// One session: its identity, its state, the command that runs in it and the processes that it has left behind.

import type { ProcessEntry } from "../../platform/process-table.ts";
import { TrlError } from "../../protocol/errors.ts";
import type { RunResult, StreamParams } from "../../protocol/exec.ts";
import type { SessionState } from "../../upgrade/schema/commands.ts";
import type { Unpacking } from "../../upgrade/schema/fields.ts";
import { newId } from "../../util/ids.ts";
import { Command, type CommandOutcome } from "../command/command.ts";
import { CommandOutput } from "../command/output.ts";
import { gather } from "../command/result.ts";
import { resumeCommand } from "../command/resume-command.ts";
import type { Launched } from "../command/runners/runner.ts";
import { type CommandDetails, type CommandRecord, shownText } from "../command/store.ts";
import { effectiveTimeoutS } from "../command/timeout-rule.ts";
import { MeteredRun } from "../isolation/metered-run.ts";
import { ReceiptTotals } from "../isolation/receipt.ts";
import { type Expiry, expiryOf, type Lifetime } from "../lifetime/expiry.ts";
import { Instant } from "../lifetime/instant.ts";
import { LingeringPipes } from "../process/leftover-pipes.ts";
import { PipeWriter } from "../process/pipe-writer.ts";
import { terminate } from "../process/terminate.ts";
import { requireDescriptors, requireMemoryFor } from "../resources.ts";
import { refuseIfUnavailable } from "./refuse-unavailable.ts";
import type { SessionSpec } from "./session-spec.ts";
import { advance, idle, type Phase } from "./state-machine.ts";

export class Session {
  readonly createdAt: Instant;
  #lastActivity: Instant;
  #phase: Phase;
  readonly totals = new ReceiptTotals();
  #commandCount: number;
  /** Whoever reads it keeps it; the session itself keeps nothing of a command that has ended. */
  #lastOutput: WeakRef<CommandOutput> | undefined;
  readonly lingering: LingeringPipes;
  #destroyed: Promise<number[]> | undefined;

  /** `before` is as another program has left it. */
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
    this.lingering = new LingeringPipes(before?.lingeringFds ?? []);
    if (before) this.totals.add(before.totals);
  }

  /** Nothing is on its way: it may be handed over as it is. */
  get isAtRest(): boolean {
    if (this.#destroyed || this.#phase.state === "creating" || !this.spec.runner.isAtRest) return false;
    return this.runningCommand?.isAtRest ?? true;
  }

  /** The command that ran when another program handed the session over. */
  resume({ command: state, ...details }: NonNullable<SessionState["running"]>, given: Unpacking): void {
    const { runner, sessionIsolation, context } = this.spec;
    const { ownership } = context;
    ownership.addRoot(state.pid, { sessionId: this.id, commandId: state.id });
    const command = resumeCommand(state, given, new MeteredRun(sessionIsolation, state.meter), ownership);
    this.#track(command, details, (outcome) => runner.settleResumed(outcome));
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

  /** Somebody uses it, if not by running a command. */
  touch(): void {
    this.#lastActivity = new Instant();
  }

  get expiry(): Expiry | undefined {
    return expiryOf(this.lifetime);
  }

  /** Also who is still reading what an ended command has printed is attached. */
  get lifetime(): Lifetime {
    const { createdAt, lastActivity, spec } = this;
    const { idleTimeoutS, maxAgeS } = spec;
    const isInUse = this.isRunning || (this.#lastOutput?.deref()?.hasReaders ?? false);
    return { createdAt, lastActivity, idleTimeoutS, maxAgeS, isInUse };
  }

  /** Ends the creation: runs `init`, if there is one, before any other command. */
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

  /** Lets a command run; `ended` comes after the session has taken over what the command changed. */
  start(params: CommandParams, kind: CommandRecord["kind"]): Started {
    if (params.command_id !== undefined) this.spec.context.commands.refuseTaken(params.command_id);
    refuseIfUnavailable(this);
    const started = this.#start(params, kind);
    this.#commandCount++;
    return started;
  }

  /** The command that runs now. */
  get runningCommand(): Command | undefined {
    return this.#phase.state === "running" ? this.#phase.command : undefined;
  }

  /** Everything that the session started is dead when this resolves, but for the pids of what could not be killed. */
  destroy(graceMs: number): Promise<number[]> {
    const { sessionIsolation, context } = this.spec;
    const whileFrozen =
      sessionIsolation?.cgroup && ((act: () => Promise<void>) => sessionIsolation.cgroup!.whileFrozen(act));
    this.#destroyed ??= this.#destroy(
      terminate(context.ownership, { sessionId: this.id }, { graceMs, whileFrozen }),
    );
    return this.#destroyed;
  }

  /** The same where all sessions end together, and their processes by one hand. */
  destroyAlongside(everybodysEnd: Promise<ProcessEntry[]>): Promise<number[]> {
    this.#destroyed ??= this.#destroy(everybodysEnd);
    return this.#destroyed;
  }

  async #gather(
    { command, ended }: Started,
    { encoding = "utf8" }: Pick<CommandParams, "encoding">,
  ): Promise<RunResult> {
    const outcome = await ended;
    return {
      ...gather(command.output, outcome, encoding),
      command_id: command.id,
      working_dir: this.spec.runner.workingDir,
    };
  }

  #start(params: CommandParams, kind: CommandRecord["kind"]): Started {
    const { name, runner, timeoutS, context } = this.spec;
    const { ownership, log, commands, options } = context;
    const id = params.command_id ?? newId("x", (taken) => commands.has(taken));
    const outputBytes = params.max_output_bytes ?? options.maxOutputBytes;
    requireDescriptors();
    requireMemoryFor(outputBytes);
    const keep = new MeteredRun(this.spec.sessionIsolation);
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
      metering: keep,
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
    settle(outcome);
    this.totals.add(outcome.receipt);
    command.input?.end();
    command.output.complete();
    if (this.#phase.state !== "terminated") this.#phase = advance(this.#phase, idle);
    this.touch();
    this.lingering.add(command.pipes);
    const { exitCode, reason, durationMs } = outcome;
    const how = { reason, exitCode, durationMs };
    this.spec.context.log.debug("command ended", { session: this.id, command: command.id, ...how });
    return outcome;
  }

  async #destroy(processesEnd: Promise<ProcessEntry[]>): Promise<number[]> {
    const { runner, sessionIsolation, context } = this.spec;
    const phase = this.#phase;
    this.#phase = advance(phase, { state: "terminated" });
    if (phase.state === "running") phase.command.endedBy("cancelled", processesEnd);
    const disposed = runner.dispose();
    const left = await processesEnd;
    await disposed;
    if (phase.state === "running") await phase.ended;
    await this.lingering.stop();
    // Not before: the command's receipt is read from it.
    if ((await sessionIsolation?.dispose()) === false)
      context.log.error("what kept the session could not be removed", { session: this.id });
    context.ownership.removeSession(this.id);
    return left.map(({ pid }) => pid);
  }
}

export type CommandParams = Omit<StreamParams, "session_id">;

export interface Started {
  command: Command;
  ended: Promise<CommandOutcome>;
}
