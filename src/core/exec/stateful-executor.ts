// Keeps a session's shell state, and one shell started ahead that waits for it and for the next command.
import { warmShellIdleMs } from "../limits.ts";
import type { Custody } from "../process/custody.ts";
import { type Env, type EnvOverrides, isShellName, overlayEnv } from "./environment.ts";
import {
  type Executor,
  isDirectory,
  type Launched,
  type LaunchRequest,
  requireDirectory,
} from "./executor.ts";
import { PreparedShell, type ShellSpec } from "./prepared-shell.ts";
import { fromText, toText } from "./shell/byte-string.ts";
import type { CommandFeed, ShellDialect, ShellState } from "./shell/dialect.ts";

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
}

export class StatefulExecutor implements Executor {
  readonly isStateful = true;
  readonly #spec: StatefulSpec;
  readonly #shellSpec: ShellSpec;
  #state: ShellState;
  #spare: PreparedShell | undefined;
  #spareTimer: Timer | undefined;
  #isDisposed = false;

  constructor(spec: StatefulSpec) {
    this.#spec = spec;
    const { sessionId, shell, dialect } = spec;
    const { launchEnv, ...initial } = dialect.initialState({ ...spec.env, ...spec.tags });
    this.#shellSpec = { sessionId, shell, dialect, launchEnv };
    this.#state = {
      ...initial,
      workingDir: fromText(spec.workingDir),
      previousDir: undefined,
      exportedNames: Object.keys(launchEnv),
      lastStatus: 0,
    };
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
    const feed = this.#feedFor(request);
    const shell = this.#takeShell(request.env);
    const stdinFd = shell.feedCommand(feed);
    this.#prepareSpareIfPossible();
    return {
      process: shell.process,
      stdinFd,
      settle: ({ reason, exitCode }) => {
        // A command that was stopped or killed changes nothing: it can be repeated from where it began.
        const reported = reason === "exit" ? shell.readReport(feed) : undefined;
        shell.removeFiles();
        this.#state = { ...this.#state, ...reported, lastStatus: exitCode };
        if (reported && request.workingDir !== undefined) this.#leaveGivenDirectory(feed);
        this.#feedSpare();
      },
    };
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.#dropSpare();
  }

  #feedFor(request: LaunchRequest): CommandFeed {
    const workingDir = request.workingDir && requireDirectory(request.workingDir, this.workingDir);
    return {
      commandId: request.commandId,
      command: fromText(request.command),
      state: this.#state,
      workingDir: workingDir ? fromText(workingDir) : this.#state.workingDir,
      isGone: !workingDir && !isDirectory(this.workingDir),
      env: shellOverrides(request.env),
      hasStdin: request.wantsStdin,
    };
  }

  /** A directory that was given for one command is left again, unless the command itself went elsewhere. */
  #leaveGivenDirectory(feed: CommandFeed): void {
    const hasMoved = this.#state.workingDir !== feed.workingDir;
    if (hasMoved || !isDirectory(toText(feed.state.workingDir))) return;
    this.#state = { ...this.#state, workingDir: feed.state.workingDir };
  }

  #takeShell(env: EnvOverrides): PreparedShell {
    const odd = Object.entries(env).filter(([name]) => !isShellName(name));
    clearTimeout(this.#spareTimer);
    let shell = this.#spare;
    this.#spare = undefined;
    if (odd.length > 0 || shell?.hasEnded) {
      void shell?.discard();
      shell = undefined;
    }
    shell ??= new PreparedShell(
      withLaunchEnv(this.#shellSpec, odd),
      this.#spec.newShellDir(),
      this.#spec.custody,
    );
    shell.feedState(this.#state);
    return shell;
  }

  #prepareSpare(): void {
    if (this.#isDisposed || this.#spare) return;
    this.#spare = new PreparedShell(this.#shellSpec, this.#spec.newShellDir(), this.#spec.custody);
  }

  /** Started now, while the command runs, it is ready by the time that the command's state is known. */
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
    this.#spareTimer = setTimeout(() => void this.#dropSpare(), warmShellIdleMs);
  }

  async #dropSpare(): Promise<void> {
    clearTimeout(this.#spareTimer);
    const shell = this.#spare;
    this.#spare = undefined;
    await shell?.discard();
  }
}

function shellOverrides(env: EnvOverrides): CommandFeed["env"] {
  const named = Object.entries(env).filter(([name]) => isShellName(name));
  return named.map(([name, value]) => [name, value === null ? null : fromText(value)]);
}

function withLaunchEnv(spec: ShellSpec, odd: [string, string | null][]): ShellSpec {
  return { ...spec, launchEnv: overlayEnv(spec.launchEnv, Object.fromEntries(odd)) };
}
