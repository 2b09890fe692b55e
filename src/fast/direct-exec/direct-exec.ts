// Commands that are one program: the daemon starts it as the session's shell would, with the same words, variables and
// directory, and no shell is used up for it. Whatever a shell would have to say about it, a shell is asked to.

import { type ByteString, textOf } from "../../process/byte-string.ts";
import type { Env } from "../../process/environment.ts";
import type { ProcessOwnership } from "../../process/ownership.ts";
import { type SpawnedProcess, spawnProcess } from "../../process/spawn.ts";
import { tagNames } from "../../process/tags.ts";
import type { CommandFeed, ExportChanges, ProgramDialect, ShellState } from "../shell/dialect.ts";
import { findProgram } from "./find-program.ts";
import type { Launched } from "./runner.ts";
import type { ShellSpec } from "./shell-spec.ts";

export class DirectExec {
  /** Of the script that was read last: most commands change nothing. */
  #read: { script: ByteString; changes: ExportChanges | undefined } | undefined;

  /** Of what every shell is started with, the variables that it does not pass on. */
  #lost: readonly string[] | "unknown" | undefined;

  constructor(
    /** Of the shells that would start them otherwise. */
    readonly shells: ShellSpec,
    readonly programs: ProgramDialect,
    readonly ownership: ProcessOwnership,
  ) {}

  /** Undefined where it is for a shell to run the command. */
  launch(feed: CommandFeed, settle: Launched["settle"]): Launched | undefined {
    const process = this.#start(feed);
    if (!process) return undefined;
    const { stdinFd } = process;
    const [canBeHandedOver, mayHandleSignals] = [() => true, () => true];
    return { process, stdinFd, begin: () => {}, canBeHandedOver, mayHandleSignals, settle };
  }

  #start(feed: CommandFeed): SpawnedProcess | undefined {
    const words = feed.env.length > 0 ? undefined : this.programs.wordsOf(feed);
    const env = words && this.#envOf(feed);
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
    const { sessionId } = this.shells;
    const process = this.ownership.start(sessionId, () => trySpawn(request));
    if (process) this.ownership.addRoot(process.pid, { sessionId, commandId: feed.commandId });
    return process;
  }

  #envOf({ state, workingDir }: CommandFeed): Env | undefined {
    const env = this.shells.launchEnv.all();
    const places = { PWD: textOf(workingDir), OLDPWD: textOf(state.previousDir ?? "") };
    const depth = depthOf(env["SHLVL"]);
    const changes = this.#changesIn(state);
    this.#lost ??= lostIn(env);
    const isUsual = changes && this.#lost !== "unknown";
    if (!isUsual || depth === undefined || places.PWD === undefined || places.OLDPWD === undefined)
      return undefined;
    env["SHLVL"] = depth;
    for (const name of this.#lost) delete env[name];
    for (const name of changes.unset) delete env[name];
    Object.assign(env, changes.set, places);
    if (state.previousDir === undefined) delete env["OLDPWD"];
    return env;
  }

  #changesIn(state: ShellState): ExportChanges | undefined {
    const { script } = state;
    if (this.#read?.script !== script) this.#read = { script, changes: this.programs.exportsIn(state) };
    return this.#read.changes;
  }
}

/** Every shell has its own, or none. */
const dropped =
  /^(?:PS[12]|S?RANDOM|PPID|HISTCMD|BASHPID|BASH_(?:SUBSHELL|ARGV0|COMMAND|VERSINFO)|COMP_WORDBREAKS)$/;
/** What becomes of them is the shell's business; the last has a say in which file is the program. */
const reset =
  /^(?:BASH(?:_\w+)?|DIRSTACK|E?UID|EPOCH\w+|FUNCNAME|GROUPS|IFS|LINENO|OPTARG|OPTERR|OPTIND|PIPESTATUS|PS4|SECONDS|EXECIGNORE)$/;
const none: readonly string[] = [];

function lostIn(launchEnv: Env): readonly string[] | "unknown" {
  const lost = Object.keys(launchEnv).filter((name) => dropped.test(name) || reset.test(name));
  if (lost.length === 0) return none;
  return lost.every((name) => dropped.test(name)) ? lost : "unknown";
}

/** One more than that of who started the daemon, as every shell of the session has it; undefined for odd ones. */
function depthOf(outer = "0"): string | undefined {
  return /^\d{1,2}$/.test(outer) ? String(Number(outer) + 1) : undefined;
}

/** What cannot be started as it is (a directory, a text without an interpreter), a shell says so or reads it. */
function trySpawn(request: Parameters<typeof spawnProcess>[0]): SpawnedProcess | undefined {
  try {
    return spawnProcess(request);
  } catch {
    return undefined;
  }
}
