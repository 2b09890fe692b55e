// The direct-exec accelerator: the daemon starts a command that is one program itself, with the words, variables and
// directory that bash would give it. Whatever is uncertain goes to a shell, and while spawns are slow so
// does what a shell would exec.

import { accessSync, constants, statSync } from "node:fs";
import type { CommandOutcome } from "../../core/command/command.ts";
import type { DirectLauncher } from "../../core/command/runners/accelerators.ts";
import type { Launched } from "../../core/command/runners/runner.ts";
import type { ShellSpec } from "../../core/command/runners/shell-spec.ts";
import { exportsIn } from "../../core/command/shell/bash/environment.ts";
import type { CommandFeed, ExportChanges, ShellState } from "../../core/command/shell/dialect.ts";
import { type ByteString, textOf } from "../../core/process/byte-string.ts";
import type { Env } from "../../core/process/environment.ts";
import type { ProcessOwnership } from "../../core/process/ownership.ts";
import { type SpawnedProcess, spawnProcess } from "../../core/process/spawn.ts";
import { tagNames } from "../../core/process/tags.ts";
import { programWords } from "./program-words.ts";

/** A small program spawns in 0.2 to 0.4 ms on a quiet machine, in 3 to 7 ms beside busy processes. */
const slowSpawnMs = 1.5;
/** A single slow spawn may be the daemon's own doing, such as a garbage collection. */
const slowSpawnsInRow = 2;
const slowForMs = 5000;
/** A program that runs for longer mostly waits. */
const startingMs = 50;

/**
 * Whether other work of the machine makes spawns slow. On a loaded machine a new process waits for a processor, and the
 * daemon waits for its exec; a warm shell has slept, so it gets a processor at once.
 */
export class SpawnPace {
  #slowUntil = 0;
  #slowInRow = 0;
  #last = { startedAt: Number.NEGATIVE_INFINITY, isRunning: false };

  constructor(readonly now = () => performance.now()) {}

  get isSlow(): boolean {
    return this.now() < this.#slowUntil;
  }

  /** Times a spawn. Beside a program that was started just before, its duration says nothing about other work. */
  measure<T extends Pick<SpawnedProcess, "exited">>(spawn: () => T | undefined): T | undefined {
    const { startedAt, isRunning } = this.#last;
    const begin = this.now();
    const spawned = spawn();
    if (!spawned) return undefined;
    if (!isRunning || begin - startedAt > startingMs) this.#note(this.now() - begin);
    const started = { startedAt: begin, isRunning: true };
    this.#last = started;
    void spawned.exited.then(() => {
      started.isRunning = false;
    });
    return spawned;
  }

  #note(durationMs: number): void {
    this.#slowInRow = durationMs > slowSpawnMs ? this.#slowInRow + 1 : 0;
    if (this.#slowInRow < slowSpawnsInRow) return;
    this.#slowInRow = 0;
    this.#slowUntil = this.now() + slowForMs;
  }
}

export interface ShellChoice {
  /** Shared by all sessions. */
  pace: SpawnPace;
  /** Whether a shell would exec the program: results are then the same as without a shell. */
  isExecedByShell(feed: CommandFeed): boolean;
}

export class DirectExec implements DirectLauncher {
  /** Of the last script: most commands do not change it. */
  #cached: { script: ByteString; changes: ExportChanges | undefined } | undefined;

  /** Variables of the launch environment that bash does not pass on to programs. */
  #dropped: readonly string[] | "unknown" | undefined;

  constructor(
    readonly spec: ShellSpec,
    readonly ownership: ProcessOwnership,
    readonly choice: ShellChoice,
  ) {}

  launch(feed: CommandFeed, settle: (outcome: CommandOutcome) => void): Launched | undefined {
    if (this.choice.pace.isSlow && this.choice.isExecedByShell(feed)) return undefined;
    const process = this.#start(feed);
    if (!process) return undefined;
    const { stdinFd } = process;
    const [canBeHandedOver, mayHandleSignals] = [() => true, () => true];
    return {
      ...{ process, stdinFd, canBeHandedOver, mayHandleSignals },
      begin: () => {},
      settle: (outcome) => {
        settle(outcome);
        return true;
      },
    };
  }

  #start(feed: CommandFeed): SpawnedProcess | undefined {
    const words = feed.env.length > 0 ? undefined : programWords(feed);
    const env = words && this.#envFor(feed);
    if (!env) return undefined;
    const path = findProgram(words[0], env["PATH"]);
    if (path === undefined) return undefined;
    const request = {
      argv: [path, ...words.slice(1)],
      argv0: words[0],
      env: { ...env, _: path, [tagNames.command]: feed.commandId },
      workingDir: env["PWD"]!,
      extraInputs: 0,
      openStdin: feed.hasStdin,
    };
    const { sessionId } = this.spec;
    const process = this.choice.pace.measure(() => this.ownership.start(sessionId, () => trySpawn(request)));
    if (process) this.ownership.addRoot(process.pid, { sessionId, commandId: feed.commandId });
    return process;
  }

  #envFor({ state, workingDir }: CommandFeed): Env | undefined {
    const env = this.spec.launchEnv.all();
    const directories = { PWD: textOf(workingDir), OLDPWD: textOf(state.previousDir ?? "") };
    const shlvl = shlvlIn(env["SHLVL"]);
    const changes = this.#changesIn(state);
    this.#dropped ??= droppedIn(env);
    if (!changes || this.#dropped === "unknown" || shlvl === undefined) return undefined;
    if (directories.PWD === undefined || directories.OLDPWD === undefined) return undefined;
    env["SHLVL"] = shlvl;
    for (const name of this.#dropped) delete env[name];
    for (const name of changes.unset) delete env[name];
    Object.assign(env, changes.set, directories);
    if (state.previousDir === undefined) delete env["OLDPWD"];
    return env;
  }

  #changesIn(state: ShellState): ExportChanges | undefined {
    const { script } = state;
    if (this.#cached?.script !== script) this.#cached = { script, changes: exportsIn(state) };
    return this.#cached.changes;
  }
}

/** Every bash sets these itself, unexported. */
const dropped =
  /^(?:PS[12]|S?RANDOM|PPID|HISTCMD|BASHPID|BASH_(?:SUBSHELL|ARGV0|COMMAND|VERSINFO)|COMP_WORDBREAKS)$/;
/** Only bash knows what it makes of these; EXECIGNORE also affects which file is the program. */
const reset =
  /^(?:BASH(?:_\w+)?|DIRSTACK|E?UID|EPOCH\w+|FUNCNAME|GROUPS|IFS|LINENO|OPTARG|OPTERR|OPTIND|PIPESTATUS|PS4|SECONDS|EXECIGNORE)$/;
const none: readonly string[] = [];

function droppedIn(launchEnv: Env): readonly string[] | "unknown" {
  const names = Object.keys(launchEnv).filter((name) => dropped.test(name) || reset.test(name));
  if (names.length === 0) return none;
  return names.every((name) => dropped.test(name)) ? names : "unknown";
}

/** One more than the daemon's, as in every shell of the session; undefined for a value that is not a small number. */
function shlvlIn(outer = "0"): string | undefined {
  return /^\d{1,2}$/.test(outer) ? String(Number(outer) + 1) : undefined;
}

/** Undefined where no file has that name, or only a shell can say which one it would run. */
function findProgram(name: string, searchPath: string | undefined): string | undefined {
  if (name.includes("/")) return name; // the start fails where it does not exist
  for (const directory of searchPath?.split(":") ?? []) {
    if (!directory.startsWith("/")) return undefined;
    const path = directory.endsWith("/") ? directory + name : `${directory}/${name}`;
    if (isProgram(path)) return path;
  }
  return undefined;
}

function isProgram(path: string): boolean {
  try {
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** For a directory or a script without an interpreter line, a shell prints the error or reads the script. */
function trySpawn(request: Parameters<typeof spawnProcess>[0]): SpawnedProcess | undefined {
  try {
    return spawnProcess(request);
  } catch {
    return undefined;
  }
}
