// Where a session or a terminal runs, and with which shell.
import { accessSync, constants, statSync } from "node:fs";
import { TrlError } from "../../protocol/errors.ts";
import type { Env } from "../exec/environment.ts";

export const defaultWorkingDir = "/tmp";

/** A path as it is, or a name to be found on the daemon's PATH. */
export function resolveShell(given: string | undefined, env: Env): string {
  const PATH = env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin";
  if (given === undefined) return Bun.which("bash", { PATH }) ?? "/bin/sh";
  const path = given.includes("/") ? given : Bun.which(given, { PATH });
  if (path === null || !isExecutableFile(path)) {
    throw new TrlError("INVALID_PARAMS", `shell: no such program: ${given}`);
  }
  return path;
}

function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
