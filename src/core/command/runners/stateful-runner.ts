// Runs the commands of a session in shells that carry the session's state: each command gets a shell that is fed the
// state and reports the new one at its end. Accelerators may start shells ahead, or do without one.
import { TrlError } from "../../../protocol/errors.ts";
import { failureOf } from "../../../util/failure.ts";
import { internList } from "../../../util/intern.ts";
import { fromText, toText } from "../../process/byte-string.ts";
import { type EnvOverrides, overlayEnv } from "../../process/environment.ts";
import { requireDescriptors } from "../../resources.ts";
import type { CommandOutcome } from "../command.ts";
import { sessionPathsOf } from "../session-paths.ts";
import type { CommandFeed, ShellState } from "../shell/dialect.ts";
import { mayHandleSignals } from "../shell/script-parts.ts";
import {
  type DirectLauncher,
  type InPlaceRunner,
  planWholeReport,
  type ReportPlanner,
  type ShellSource,
  type ShellSupply,
  ShellsOnDemand,
} from "./accelerators.ts";
import { feedFor, feedForShell, oddNames } from "./command-feed.ts";
import type { CommandRunner, Launched, LaunchRequest } from "./runner.ts";
import { SessionShell } from "./session-shell.ts";
import { SharedEnv } from "./shared-env.ts";
import { ShellFiles } from "./shell-files.ts";
import type { ShellSpec } from "./shell-spec.ts";
import { type Reporter, SessionShellState } from "./shell-state.ts";
import type { ShellContext, StatefulSpec, StatefulState } from "./stateful-spec.ts";

export class StatefulRunner implements CommandRunner, ShellSource {
  readonly isStateful = true;
  readonly #context: ShellContext;
  readonly #isOldShell: boolean;
  readonly #shellSpec: ShellSpec;
  readonly #shellState: SessionShellState;
  readonly #supply: ShellSupply;
  readonly #inPlace: InPlaceRunner | undefined;
  readonly #directExec: DirectLauncher | undefined;
  readonly #planReport: ReportPlanner;
  /** Counts the commands, so that work after a reply is skipped once the next command has come. */
  #generation = 0;
  #busy: Reporter | undefined;
  /** Files of the last command are yet to be removed. */
  #isTidying = false;

  constructor(spec: StatefulSpec) {
    const { sessionId, shell, dialect, sessionIsolation, env, tags, context, resumed } = spec;
    this.#context = context;
    this.#isOldShell = spec.isOldShell;
    const paths = sessionPathsOf(sessionIsolation);
    const { launchEnv: own, ...initial } = dialect.initialState({ ...env, ...tags });
    const firstState = {
      ...initial,
      workingDir: fromText(spec.workingDir),
      previousDir: undefined,
      exportedNames: internList(Object.keys(own)),
      lastStatus: 0,
    };
    this.#shellState = new SessionShellState((resumed?.state as ShellState | undefined) ?? firstState, paths);
    const launchEnv = new SharedEnv(resumed?.launchEnv ?? own, context.usualEnv);
    this.#shellSpec = { sessionId, shell, dialect, launchEnv, sessionIsolation, paths };
    const { ownership } = context;
    const { shellSupply, ...others } = context.accelerators;
    const accelerators = spec.isOldShell ? {} : others;
    if (!sessionIsolation) {
      this.#inPlace = accelerators.inPlace?.(dialect);
      this.#directExec = accelerators.directExec?.(this.#shellSpec, ownership);
    }
    this.#planReport = accelerators.reportPlanner?.(dialect) ?? planWholeReport;
    this.#supply = shellSupply?.(this) ?? new ShellsOnDemand();
    if (resumed?.busy) this.#resume(resumed.busy);
    else if (!resumed) this.#supply.open();
  }

  #resume({ dir, launchEnv, mayReport, request, feed }: NonNullable<StatefulState["busy"]>): void {
    const env = new SharedEnv(launchEnv, this.#context.usualEnv);
    const files = new ShellFiles(dir, this.#shellSpec.dialect, env);
    files.mayReport = mayReport;
    this.#busy = { files, feed: feed as CommandFeed, request: { workingDir: undefined, ...request } };
  }

  rest(): void {
    this.#supply.rest();
  }

  get isAtRest(): boolean {
    return this.#supply.isAtRest && !this.#isTidying;
  }

  pack(): StatefulState {
    const { files, ...launched } = this.#busy ?? {};
    const busy = files && {
      ...{ dir: files.dir, launchEnv: files.launchEnv.all(), mayReport: files.mayReport },
      ...(launched as Omit<Reporter, "files">),
    };
    const launchEnv = this.#shellSpec.launchEnv.all();
    return { kind: "stateful", launchEnv, state: this.state, busy, isOldShell: this.#isOldShell };
  }

  settleResumed(outcome: CommandOutcome): void {
    if (this.#busy) this.#settle(this.#busy, outcome, true);
    else this.#shellState.endedWithoutReport(outcome.exitCode);
  }

  get workingDir(): string {
    return toText(this.state.workingDir);
  }

  get exportedNames(): readonly string[] {
    return this.state.exportedNames;
  }

  get state(): ShellState {
    return this.#shellState.state;
  }

  get isIsolated(): boolean {
    return this.#shellSpec.sessionIsolation !== undefined;
  }

  newShell(spec = this.#shellSpec, isLean = false): SessionShell {
    requireDescriptors();
    const { newShellDir, ownership } = this.#context;
    const inPlace = isLean ? undefined : this.#inPlace;
    return (
      inPlace?.newShell(spec, newShellDir(), ownership) ??
      new SessionShell(spec, newShellDir(), ownership, { isLean })
    );
  }

  launch(request: LaunchRequest): Launched {
    const workingDir =
      request.workingDir && this.#shellSpec.paths.require(request.workingDir, this.workingDir);
    const feed = feedFor(request, workingDir, this.state, this.#shellSpec.dialect);
    return this.#launchDirectly(feed) ?? this.#launchInShell(request, feed);
  }

  #launchDirectly(feed: CommandFeed): Launched | undefined {
    return this.#directExec?.launch(feed, ({ exitCode }) => {
      this.#shellState.endedWithoutReport(exitCode);
      this.#afterReply(() => this.#supply.repliedWithoutShell());
    });
  }

  #launchInShell(request: LaunchRequest, given: CommandFeed, isRetry = false): Launched {
    const shell = this.#takeShell(request.env, !isRetry && this.#canUseLeanShell(given));
    const feed = feedForShell(given, this.state, this.#shellSpec.paths, shell);
    if (shell.boot.isLean && this.#planReport(feed).report === "whole") {
      void this.#supply.discard(shell);
      return this.#launchInShell(request, given, true);
    }
    try {
      return this.#launchInPlace(shell, feed, request) ?? this.#run(shell, feed, request);
    } catch (error) {
      void this.#supply.discard(shell);
      // A cleaner of /tmp may have removed the files of a shell that waited; a new shell has files of its own.
      if (!isRetry) return this.#launchInShell(request, given, true);
      throw new TrlError("SPAWN_FAILED", `the command could not be started: ${failureOf(error)}`);
    }
  }

  /**
   * Whether a shell that is started for this command can do without the whole report. A shell that can run the command
   * in place and is kept afterwards is better than a lean one.
   */
  #canUseLeanShell(given: CommandFeed): boolean {
    if (given.workingDir !== this.state.workingDir) return false;
    const feed: CommandFeed = { ...given, state: this.state, place: "here" };
    if (this.#supply.keepsShells && this.#inPlace?.accepts(feed)) return false;
    return this.#planReport(feed).report !== "whole";
  }

  /** The command has the shell for itself, and the shell ends with it. */
  #run(shell: SessionShell, feed: CommandFeed, request: LaunchRequest): Launched {
    const plan = this.#planReport(feed);
    const execsProgram = plan.report === "none" && plan.exec !== undefined;
    const stdinFd = shell.prepareCommand(feed, plan);
    const busy = { files: shell.files, feed, request };
    this.#busy = busy;
    return {
      process: shell.process,
      canBeHandedOver: () => shell.hasBegun,
      stdinFd,
      mayHandleSignals: () => execsProgram || mayHandleSignals(feed),
      begin: () => {
        shell.begin();
        this.#supply.commandBegan();
      },
      settle: (outcome) => this.#settle(busy, outcome, busy.files.hasBegun),
    };
  }

  #launchInPlace(shell: SessionShell, feed: CommandFeed, request: LaunchRequest): Launched | undefined {
    const reporter = { files: shell.files, feed, request };
    return this.#inPlace?.launch(shell, feed, {
      shellState: this.#shellState,
      supply: this.#supply,
      settle: (outcome, hasBegun) => this.#settle(reporter, outcome, hasBegun),
    });
  }

  async dispose(): Promise<void> {
    await this.#supply.dispose();
  }

  /** The reply comes first; files are removed and the next shell is fed once it is on its way. */
  #settle(reporter: Reporter, outcome: CommandOutcome, hasBegun: boolean): boolean {
    this.#busy = undefined;
    if (hasBegun) this.#shellState.ended(reporter, outcome);
    this.#supply.commandEnded();
    this.#isTidying = true;
    setImmediate(() => reporter.files.remove());
    this.#afterReply(() => {
      this.#isTidying = false;
      this.#supply.replied();
    });
    return hasBegun;
  }

  #afterReply(action: () => void): void {
    const generation = this.#generation;
    setImmediate(() => {
      if (generation === this.#generation) action();
    });
  }

  #takeShell(env: EnvOverrides, isLean: boolean): SessionShell {
    const { others } = oddNames(env, this.#shellSpec.dialect);
    this.#generation++;
    this.#isTidying = false;
    let shell = this.#supply.take();
    if (shell && others.length > 0) {
      void this.#supply.discard(shell);
      shell = undefined;
    }
    shell ??= this.newShell(withLaunchEnv(this.#shellSpec, others), isLean);
    if (shell.awaitsState) shell.feedState(this.state);
    return shell;
  }
}

function withLaunchEnv(spec: ShellSpec, others: [string, string | null][]): ShellSpec {
  if (others.length === 0) return spec;
  const env = spec.launchEnv.all();
  return { ...spec, launchEnv: new SharedEnv(overlayEnv(env, Object.fromEntries(others)), env) };
}
