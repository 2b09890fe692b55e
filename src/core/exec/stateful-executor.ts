// Keeps a session's shell state, and one shell started ahead that waits for it and for the next command.
import { TrlError } from "../../protocol/errors.ts";
import type { Enclosure } from "../isolation/enclosure.ts";
import { warmShellIdleMs } from "../limits.ts";
import type { Custody } from "../process/custody.ts";
import { requireDescriptors } from "../resources.ts";
import type { CommandOutcome } from "./command.ts";
import { type Env, type EnvOverrides, isShellName, overlayEnv } from "./environment.ts";
import type { Executor, Launched, LaunchRequest } from "./executor.ts";
import { type Places, placesOf } from "./places.ts";
import { PreparedShell, type ShellSpec } from "./prepared-shell.ts";
import { type ByteString, bytesOf, fromText, toText } from "./shell/byte-string.ts";
import type { CommandFeed, ShellDialect, ShellState } from "./shell/dialect.ts";
import { mayHandleSignals } from "./shell/script-parts.ts";
import type { SpareHolder, SpareShells } from "./spare-shells.ts";

/** Who comes again so soon will come again. */
const hurryMs = 1;
/** A command that runs so long has a processor to spare. */
const spareDelayMs = 3;

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
}

export class StatefulExecutor implements Executor, SpareHolder {
  readonly isStateful = true;
  /** The variables are in the shells' own spec: one copy a session is enough. */
  readonly #spec: Omit<StatefulSpec, "env" | "tags">;
  readonly #shellSpec: ShellSpec;
  readonly #places: Places;
  #state: ShellState;
  /** Most commands change nothing, and a report that says the same need not be read again. */
  #lastReport: ByteString | undefined;
  #spare: PreparedShell | undefined;
  #spareTimer: Timer | undefined;
  #isDisposed = false;
  #settledAt = 0;
  /** Counts the commands: what is put off must not meet the next one. */
  #generation = 0;

  constructor(spec: StatefulSpec) {
    const { env, tags, ...kept } = spec;
    this.#spec = kept;
    const { sessionId, shell, dialect, enclosure } = spec;
    this.#places = placesOf(enclosure);
    const { launchEnv, ...initial } = dialect.initialState({ ...env, ...tags });
    this.#shellSpec = { sessionId, shell, dialect, launchEnv, enclosure, places: this.#places };
    this.#state = {
      ...initial,
      workingDir: fromText(spec.workingDir),
      previousDir: undefined,
      exportedNames: Object.keys(launchEnv),
      lastStatus: 0,
    };
    if (!spec.spares.hasRoom) return;
    this.#prepareSpare();
    this.#feedSpare();
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
    return {
      process: shell.process,
      stdinFd,
      mayHandleSignals: () => mayHandleSignals(feed),
      begin: () => {
        shell.begin();
        this.#prepareSpareInTime();
      },
      settle: (outcome) => this.#settle(shell, feed, request, outcome),
    };
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.dropSpare();
  }

  async dropSpare(): Promise<void> {
    clearTimeout(this.#spareTimer);
    this.#spec.spares.release(this);
    const shell = this.#spare;
    this.#spare = undefined;
    await shell?.discard();
  }

  #feed(request: LaunchRequest, workingDir: string | undefined, isAgain = false): Fed {
    const shell = this.#takeShell(request.env);
    const feed = this.#feedFor(request, workingDir, shell);
    try {
      return { shell, feed, stdinFd: shell.prepareCommand(feed) };
    } catch (error) {
      void shell.discard();
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
  #settle(shell: PreparedShell, feed: CommandFeed, request: LaunchRequest, outcome: CommandOutcome): void {
    // A command that was stopped or killed changes nothing: it can be repeated from where it began.
    const report = outcome.isOwnEnd ? shell.readReport() : undefined;
    const essence = report?.replaceAll(shell.dir, "");
    const isSame = essence === this.#lastReport;
    const reported = report === undefined || isSame ? undefined : shell.parseReport(report, feed);
    // What was given to this command alone shows in its report, but is not the session's.
    const isOwn = feed.env.length === 0 && feed.place === "here";
    if (reported || !isOwn) this.#lastReport = reported && isOwn ? essence : undefined;
    this.#state = { ...this.#state, ...reported, lastStatus: outcome.exitCode };
    if (reported && request.workingDir !== undefined) this.#leaveGivenDirectory(feed);
    this.#settledAt = performance.now();
    const generation = this.#generation;
    setImmediate(() => {
      shell.removeFiles();
      if (generation !== this.#generation) return; // the next command was quicker, and did it itself
      clearTimeout(this.#spareTimer);
      this.#prepareSpareIfPossible();
      this.#feedSpare();
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
    clearTimeout(this.#spareTimer);
    let shell = this.#spare;
    this.#spare = undefined;
    if (odd.length > 0 || shell?.hasEnded) {
      void shell?.discard();
      shell = undefined;
    }
    shell ??= this.#newShell(withLaunchEnv(this.#shellSpec, odd));
    shell.feedState(this.#state);
    return shell;
  }

  #prepareSpare(): void {
    if (this.#isDisposed || this.#spare) return;
    this.#spare = this.#newShell(this.#shellSpec);
    this.#spec.spares.hold(this);
  }

  #newShell(spec: ShellSpec): PreparedShell {
    requireDescriptors();
    return new PreparedShell(spec, this.#spec.newShellDir(), this.#spec.custody);
  }

  /**
   * Where command follows command without a pause, the next shell is started while this one runs, and is ready when
   * it is wanted. Otherwise it would only take a processor from the command: there is time when that has ended.
   */
  #prepareSpareInTime(): void {
    if (this.#spec.enclosure) return; // it would take from what the command is allowed
    const isHurried = performance.now() - this.#settledAt < hurryMs;
    if (isHurried) this.#prepareSpareIfPossible();
    else this.#spareTimer = setTimeout(() => this.#prepareSpareIfPossible(), spareDelayMs);
  }

  #prepareSpareIfPossible(): void {
    try {
      this.#prepareSpare();
    } catch {
      // The next command starts its shell itself, or says why it cannot.
    }
  }

  #feedSpare(): void {
    clearTimeout(this.#spareTimer);
    if (!this.#spare) return;
    this.#spare.feedState(this.#state);
    this.#spare.getReady();
    this.#spareTimer = setTimeout(() => void this.dropSpare(), warmShellIdleMs);
  }
}

interface Fed {
  shell: PreparedShell;
  feed: CommandFeed;
  stdinFd: number | undefined;
}

function shellOverrides(env: EnvOverrides): CommandFeed["env"] {
  const named = Object.entries(env).filter(([name]) => isShellName(name));
  return named.map(([name, value]) => [name, value === null ? null : fromText(value)]);
}

const oddNames = (env: EnvOverrides) => Object.entries(env).filter(([name]) => !isShellName(name));

function withLaunchEnv(spec: ShellSpec, odd: [string, string | null][]): ShellSpec {
  return { ...spec, launchEnv: overlayEnv(spec.launchEnv, Object.fromEntries(odd)) };
}
