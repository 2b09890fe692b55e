// Keeps a session's shell state, and one shell started ahead that waits for it and for the next command.
import { TrlError } from "../../protocol/errors.ts";
import type { ExecutorState } from "../../protocol/handover/exec.ts";
import type { Enclosure } from "../isolation/enclosure.ts";
import type { Custody } from "../process/custody.ts";
import { requireDescriptors } from "../resources.ts";
import type { CommandOutcome } from "./command.ts";
import { type Env, type EnvOverrides, oddNames, overlayEnv, shellOverrides } from "./environment.ts";
import type { Executor, Launched, LaunchRequest } from "./executor.ts";
import { type Places, placesOf } from "./places.ts";
import { PreparedShell, type ShellSpec } from "./prepared-shell.ts";
import { type ByteString, bytesOf, fromText, toText } from "./shell/byte-string.ts";
import type { CommandFeed, ShellDialect, ShellState } from "./shell/dialect.ts";
import { mayHandleSignals } from "./shell/script-parts.ts";
import { ShellFiles } from "./shell-files.ts";
import { SpareShell } from "./spare-shell.ts";
import type { SpareShells } from "./spare-shells.ts";

export interface StatefulSpec {
  sessionId: string;
  shell: string;
  dialect: ShellDialect;
  env: Env;
  tags: Env;
  workingDir: string;
  custody: Custody;
  /** Each shell gets a directory of its own in here. */
  newShellDir: () => string;
  spares: SpareShells;
  enclosure: Enclosure | undefined;
  /** As another program has left it. */
  resumed?: StatefulState;
}

type StatefulState = Extract<ExecutorState, { kind: "stateful" }>;

/** A command that runs, and the shell that will report for it. */
interface Busy {
  files: ShellFiles;
  feed: CommandFeed;
  request: LaunchRequest;
}

export class StatefulExecutor implements Executor {
  readonly isStateful = true;
  /** The variables are in the shells' own spec: one copy a session is enough. */
  readonly #spec: Omit<StatefulSpec, "env" | "tags">;
  readonly #shellSpec: ShellSpec;
  readonly #places: Places;
  #state: ShellState;
  /** Most commands change nothing, and a report that says the same need not be read again. */
  #lastReport: ByteString | undefined;
  readonly #spare: SpareShell;
  /** Counts the commands: what is put off must not meet the next one. */
  #generation = 0;
  #busy: Busy | undefined;
  /** Files are to be removed, behind a reply. */
  #isTidying = false;

  constructor(spec: StatefulSpec) {
    const { env, tags, ...kept } = spec;
    this.#spec = kept;
    const { sessionId, shell, dialect, enclosure } = spec;
    this.#places = placesOf(enclosure);
    const { launchEnv, ...initial } = dialect.initialState({ ...env, ...tags });
    const places = this.#places;
    const ownEnv = spec.resumed?.launchEnv ?? launchEnv;
    this.#shellSpec = { sessionId, shell, dialect, launchEnv: ownEnv, enclosure, places };
    this.#state = {
      ...initial,
      workingDir: fromText(spec.workingDir),
      previousDir: undefined,
      exportedNames: Object.keys(launchEnv),
      lastStatus: 0,
    };
    this.#spare = new SpareShell(() => this.#newShell(this.#shellSpec), spec.spares);
    if (spec.resumed) this.#resume(spec.resumed);
    else if (spec.spares.hasRoom) this.#spare.prepare();
    this.#spare.feed(this.#state);
  }

  #resume({ state, busy }: StatefulState): void {
    this.#state = state as ShellState;
    if (!busy) return;
    const { dir, launchEnv, mayReport, request, feed } = busy;
    const files = new ShellFiles(dir, this.#spec.dialect, launchEnv);
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
      ...{ dir: files.dir, launchEnv: files.launchEnv, mayReport: files.mayReport },
      ...(launched as Omit<Busy, "files">),
    };
    return { kind: "stateful", launchEnv: this.#shellSpec.launchEnv, state: this.#state, busy };
  }

  settleResumed(outcome: CommandOutcome): void {
    if (this.#busy) this.#settle(this.#busy, outcome);
  }

  get workingDir(): string {
    return toText(this.#state.workingDir);
  }

  get exportedNames(): string[] {
    return this.#state.exportedNames;
  }

  launch(request: LaunchRequest): Launched {
    const workingDir = request.workingDir && this.#places.require(request.workingDir, this.workingDir);
    const { shell, feed, stdinFd } = this.#feed(request, workingDir);
    const busy = { files: shell.files, feed, request };
    this.#busy = busy;
    return {
      process: shell.process,
      stdinFd,
      mayHandleSignals: () => mayHandleSignals(feed),
      begin: () => {
        shell.begin();
        // In an enclosure it would take from what the command is allowed.
        if (!this.#spec.enclosure) this.#spare.prepareInTime();
      },
      settle: (outcome) => this.#settle(busy, outcome),
    };
  }

  async dispose(): Promise<void> {
    await this.#spare.dispose();
  }

  #feed(request: LaunchRequest, workingDir: string | undefined, isAgain = false): Fed {
    const shell = this.#takeShell(request.env);
    const feed = this.#feedFor(request, workingDir, shell);
    try {
      return { shell, feed, stdinFd: shell.prepareCommand(feed) };
    } catch (error) {
      void this.#spare.discard(shell);
      // The files of a shell that waited may have been cleaned away; one that is started now has its own.
      if (!isAgain) return this.#feed(request, workingDir, true);
      throw new TrlError("SPAWN_FAILED", `the command could not be started: ${(error as Error).message}`);
    }
  }

  #feedFor(request: LaunchRequest, given: string | undefined, shell: PreparedShell): CommandFeed {
    const isHere = !given && shell.waitsIn(this.#state.workingDir);
    return {
      commandId: request.commandId,
      command: fromText(request.command),
      state: this.#state,
      workingDir: given ? fromText(given) : this.#state.workingDir,
      place: isHere
        ? "here"
        : given || this.#places.isDirectory(bytesOf(this.#state.workingDir))
          ? "elsewhere"
          : "gone",
      env: shellOverrides(request.env),
      hasStdin: request.wantsStdin,
      mayImportFunctions: oddNames(request.env).length > 0,
    };
  }

  /** What the caller waits for comes first; the next shell is told its state once the reply is on its way. */
  #settle({ files, feed, request }: Busy, outcome: CommandOutcome): void {
    this.#busy = undefined;
    // A command that was stopped or killed changes nothing: it can be repeated from where it began.
    const report = outcome.isOwnEnd ? files.readReport() : undefined;
    const essence = report?.replaceAll(files.dir, "");
    const isSame = essence === this.#lastReport;
    const reported = report === undefined || isSame ? undefined : files.parseReport(report, feed);
    // What was given to this command alone shows in its report, but is not the session's.
    const isOwn = feed.env.length === 0 && feed.place === "here";
    if (reported || !isOwn) this.#lastReport = reported && isOwn ? essence : undefined;
    this.#state = { ...this.#state, ...reported, lastStatus: outcome.exitCode };
    if (reported && request.workingDir !== undefined) this.#leaveGivenDirectory(feed);
    this.#spare.settled();
    const generation = this.#generation;
    this.#isTidying = true;
    setImmediate(() => {
      files.remove();
      if (generation !== this.#generation) return; // the next command was quicker, and did it itself
      this.#isTidying = false;
      this.#spare.prepareWith(this.#state);
    });
  }

  /** A directory that was given for one command is left again, unless the command itself went elsewhere. */
  #leaveGivenDirectory(feed: CommandFeed): void {
    const { identityOf, isDirectory } = this.#places;
    const hasMoved = identityOf(bytesOf(this.#state.workingDir)) !== identityOf(bytesOf(feed.workingDir));
    if (hasMoved || !isDirectory(bytesOf(feed.state.workingDir))) return;
    this.#state = { ...this.#state, workingDir: feed.state.workingDir };
  }

  #takeShell(env: EnvOverrides): PreparedShell {
    const odd = oddNames(env);
    this.#generation++;
    this.#isTidying = false;
    let shell = this.#spare.take();
    if (odd.length > 0 && shell) {
      void this.#spare.discard(shell);
      shell = undefined;
    }
    shell ??= this.#newShell(withLaunchEnv(this.#shellSpec, odd));
    shell.feedState(this.#state);
    return shell;
  }

  #newShell(spec: ShellSpec): PreparedShell {
    requireDescriptors();
    return new PreparedShell(spec, this.#spec.newShellDir(), this.#spec.custody);
  }
}

interface Fed {
  shell: PreparedShell;
  feed: CommandFeed;
  stdinFd: number | undefined;
}

function withLaunchEnv(spec: ShellSpec, odd: [string, string | null][]): ShellSpec {
  return { ...spec, launchEnv: overlayEnv(spec.launchEnv, Object.fromEntries(odd)) };
}
