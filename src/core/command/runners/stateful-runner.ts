// Keeps a session's shell state, and one shell started ahead that waits for it and for the next command.
import { TrlError } from "../../../protocol/errors.ts";
import { failureOf } from "../../../util/failure.ts";
import { internList } from "../../../util/intern.ts";
import { fromText, toText } from "../../process/byte-string.ts";
import { type EnvOverrides, overlayEnv } from "../../process/environment.ts";
import { requireDescriptors } from "../../resources.ts";
import type { CommandOutcome } from "../command.ts";
import { sessionPathsOf } from "../session-paths.ts";
import type { InPlaceKind } from "../shell/analysis/in-place-kind.ts";
import type { CommandFeed, ShellState } from "../shell/dialect.ts";
import { mayHandleSignals } from "../shell/script-parts.ts";
import { feedFor, feedForShell, oddNames } from "./command-feed.ts";
import { DirectExec } from "./direct-exec.ts";
import { NextShell, type ShellOwner } from "./next-shell.ts";
import type { CommandRunner, Launched, LaunchRequest } from "./runner.ts";
import { SharedEnv } from "./shared-env.ts";
import { ShellFiles } from "./shell-files.ts";
import type { ShellSpec } from "./shell-spec.ts";
import { type Reporter, SessionShellState } from "./shell-state.ts";
import type { ShellContext, StatefulSpec, StatefulState } from "./stateful-spec.ts";
import { WarmShell } from "./warm-shell.ts";

export class StatefulRunner implements CommandRunner, ShellOwner {
  readonly isStateful = true;
  readonly #context: ShellContext;
  readonly #shellSpec: ShellSpec;
  readonly #kept: SessionShellState;
  readonly #spare: NextShell;
  readonly #programs: DirectExec | undefined;
  /** Counts the commands: what is put off must not meet the next one. */
  #generation = 0;
  #busy: Reporter | undefined;
  /** Files are to be removed, behind a reply. */
  #isTidying = false;

  constructor(spec: StatefulSpec) {
    const { sessionId, shell, dialect, sessionIsolation, env, tags, context, resumed } = spec;
    this.#context = context;
    const places = sessionPathsOf(sessionIsolation);
    const { launchEnv: own, ...initial } = dialect.initialState({ ...env, ...tags });
    const beginning = {
      ...initial,
      workingDir: fromText(spec.workingDir),
      previousDir: undefined,
      exportedNames: internList(Object.keys(own)),
      lastStatus: 0,
    };
    this.#kept = new SessionShellState((resumed?.state as ShellState | undefined) ?? beginning, places);
    const launchEnv = new SharedEnv(resumed?.launchEnv ?? own, context.usualEnv);
    this.#shellSpec = { sessionId, shell, dialect, launchEnv, sessionIsolation, places };
    const { programs } = dialect;
    if (programs && !sessionIsolation)
      this.#programs = new DirectExec(this.#shellSpec, programs, context.ownership);
    this.#spare = new NextShell(this, context.warmShellPool);
    if (resumed?.busy) this.#resume(resumed.busy);
    else if (!resumed && context.warmShellPool.hasRoom) this.#spare.prepare();
    this.#spare.feed();
  }

  #resume({ dir, launchEnv, mayReport, request, feed }: NonNullable<StatefulState["busy"]>): void {
    const env = new SharedEnv(launchEnv, this.#context.usualEnv);
    const files = new ShellFiles(dir, this.#shellSpec.dialect, env);
    files.mayReport = mayReport;
    this.#busy = { files, feed: feed as CommandFeed, request: { workingDir: undefined, ...request } };
  }

  rest(): void {
    this.#spare.rest();
  }

  get isAtRest(): boolean {
    return this.#spare.isAtRest && !this.#isTidying;
  }

  pack(): StatefulState {
    const { files, ...launched } = this.#busy ?? {};
    const busy = files && {
      ...{ dir: files.dir, launchEnv: files.launchEnv.all(), mayReport: files.mayReport },
      ...(launched as Omit<Reporter, "files">),
    };
    const launchEnv = this.#shellSpec.launchEnv.all();
    return { kind: "stateful", launchEnv, state: this.#kept.state, busy };
  }

  settleResumed(outcome: CommandOutcome): void {
    if (this.#busy) this.#settle(this.#busy, outcome);
    else this.#kept.ranProgram(outcome);
  }

  get workingDir(): string {
    return toText(this.#kept.state.workingDir);
  }

  get exportedNames(): readonly string[] {
    return this.#kept.state.exportedNames;
  }

  get state(): ShellState {
    return this.#kept.state;
  }

  newShell(spec = this.#shellSpec, isLean = false): WarmShell {
    requireDescriptors();
    const { newShellDir, ownership } = this.#context;
    return new WarmShell(spec, newShellDir(), ownership, isLean);
  }

  launch(request: LaunchRequest): Launched {
    const workingDir =
      request.workingDir && this.#shellSpec.places.require(request.workingDir, this.workingDir);
    const feed = feedFor(request, workingDir, this.state, this.#shellSpec.dialect);
    return this.#startProgram(feed) ?? this.#launch(request, feed);
  }

  /** Without a shell, where none is needed. */
  #startProgram(feed: CommandFeed): Launched | undefined {
    return this.#programs?.launch(feed, (outcome) => {
      this.#kept.ranProgram(outcome);
      this.#behindReply(() => this.#spare.prepareAside());
    });
  }

  #launch(request: LaunchRequest, given: CommandFeed, isAgain = false): Launched {
    const shell = this.#takeShell(request.env, !isAgain && this.#needsNoReport(given));
    const feed = feedForShell(given, this.state, this.#shellSpec.places, shell);
    if (shell.isLean && this.#shellSpec.dialect.reportKind!(feed) === "whole") {
      void this.#spare.discard(shell);
      return this.#launch(request, given, true);
    }
    try {
      const kind = shell.inPlaceKind(feed);
      return kind ? this.#visit(shell, feed, kind, request) : this.#run(shell, feed, request);
    } catch (error) {
      void this.#spare.discard(shell);
      // The files of a shell that waited may have been cleaned away; one that is started now has its own.
      if (!isAgain) return this.#launch(request, given, true);
      throw new TrlError("SPAWN_FAILED", `the command could not be started: ${failureOf(error)}`);
    }
  }

  /**
   * As far as that can be said before there is a shell. One that could run it and wait on is better than a lean one,
   * unless another session's shell would be dropped for it under load.
   */
  #needsNoReport(given: CommandFeed): boolean {
    const { dialect } = this.#shellSpec;
    if (given.workingDir !== this.state.workingDir) return false;
    const feed: CommandFeed = { ...given, state: this.state, place: "here" };
    const { hasRoom, isUnderLoad } = this.#context.warmShellPool;
    if ((hasRoom || !isUnderLoad) && dialect.inPlaceKind?.(feed)) return false;
    return (dialect.reportKind?.(feed) ?? "whole") !== "whole";
  }

  /** It has the shell for itself, and the shell ends with it. */
  #run(shell: WarmShell, feed: CommandFeed, request: LaunchRequest): Launched {
    const stdinFd = shell.prepareCommand(feed);
    const busy = { files: shell.files, feed, request };
    this.#busy = busy;
    return {
      process: shell.process,
      canBeHandedOver: () => shell.hasBegun,
      stdinFd,
      mayHandleSignals: () => shell.execsProgram || mayHandleSignals(feed),
      begin: () => {
        this.#spare.began();
        shell.begin();
        // In an enclosure it would take from what the command is allowed.
        if (!this.#shellSpec.sessionIsolation) this.#spare.prepareInTime();
      },
      settle: (outcome) => this.#settle(busy, outcome),
    };
  }

  /** The shell runs it and waits on. */
  #visit(shell: WarmShell, feed: CommandFeed, kind: InPlaceKind, request: LaunchRequest): Launched {
    const reporter = { files: shell.files, feed, request };
    const visit = shell.prepareInPlace(feed, kind);
    return {
      process: visit.process,
      canBeHandedOver: () => false,
      stdinFd: undefined,
      mayHandleSignals: () => false,
      begin: () => visit.begin(),
      settle: (outcome) => {
        const { end } = visit;
        const isUsable = end?.variables !== undefined && !outcome.wasSignalled;
        if (!isUsable) void this.#spare.discard(shell);
        if (!end || !outcome.isOwnEnd) return this.#settle(reporter, outcome);
        this.#kept.ranInPlace(reporter, end);
        if (!isUsable) return;
        shell.ranInPlaceIn(end.workingDir, end.workingDir !== feed.workingDir);
        this.#spare.settled();
        this.#spare.putBack(shell);
      },
    };
  }

  async dispose(): Promise<void> {
    await this.#spare.dispose();
  }

  /** What the caller waits for comes first; the next shell is told its state once the reply is on its way. */
  #settle(reporter: Reporter, outcome: CommandOutcome): void {
    this.#busy = undefined;
    this.#kept.ended(reporter, outcome);
    this.#spare.settled();
    this.#isTidying = true;
    setImmediate(() => reporter.files.remove());
    this.#behindReply(() => {
      this.#isTidying = false;
      this.#spare.prepareNext();
    });
  }

  /** Unless the next command was quicker, which has done it itself and has the shell. */
  #behindReply(prepare: () => void): void {
    const generation = this.#generation;
    setImmediate(() => {
      if (generation === this.#generation) prepare();
    });
  }

  #takeShell(env: EnvOverrides, isLean: boolean): WarmShell {
    const { others: odd } = oddNames(env, this.#shellSpec.dialect);
    this.#generation++;
    this.#isTidying = false;
    let shell = this.#spare.take();
    if (shell && (odd.length > 0 || shell.isOutdated)) {
      void this.#spare.discard(shell);
      shell = undefined;
    }
    shell ??= this.newShell(withLaunchEnv(this.#shellSpec, odd), isLean);
    if (shell.awaitsState) shell.feedState(this.state);
    return shell;
  }
}

function withLaunchEnv(spec: ShellSpec, odd: [string, string | null][]): ShellSpec {
  const env = spec.launchEnv.all();
  return { ...spec, launchEnv: new SharedEnv(overlayEnv(env, Object.fromEntries(odd)), env) };
}
