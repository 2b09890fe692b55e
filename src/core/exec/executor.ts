// How commands get their process: through a stateful shell that is prepared ahead, or plainly by `shell -c`.
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { TrlError } from "../../protocol/errors.ts";
import type { SpawnedProcess } from "../process/spawn.ts";
import type { CommandOutcome } from "./command.ts";
import type { EnvOverrides } from "./environment.ts";

export interface LaunchRequest {
  commandId: string;
  command: string;
  env: EnvOverrides;
  workingDir: string | undefined;
  wantsStdin: boolean;
}

export interface Launched {
  process: SpawnedProcess;
  /** To be written and closed by the caller, where input was wanted. */
  stdinFd: number | undefined;
  /** To be called once, when the command has ended. */
  settle(outcome: CommandOutcome): void;
}

export interface Executor {
  readonly isStateful: boolean;
  /** Where the session stands now. */
  readonly workingDir: string;
  /** Names of the variables that the next command will find exported. */
  readonly exportedNames: string[];
  launch(request: LaunchRequest): Launched;
  /** Ends whatever waits for a command. */
  dispose(): Promise<void>;
}

export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** A directory as a client gave it: absolute, `~`, or relative to `base` where there is one. */
export function requireDirectory(given: string, base: string | undefined): string {
  const expanded = given === "~" || given.startsWith("~/") ? homedir() + given.slice(1) : given;
  if (!expanded.startsWith("/") && base === undefined) {
    throw new TrlError("INVALID_PARAMS", `working_dir: expected an absolute path, got "${given}"`);
  }
  const path = resolve(base ?? "/", expanded);
  if (!isDirectory(path)) throw new TrlError("INVALID_PARAMS", `working_dir: no such directory: ${path}`);
  return path;
}
