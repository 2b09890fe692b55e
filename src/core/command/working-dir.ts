// Where a session or a terminal runs, and with which shell.
import { accessSync, constants, statSync } from "node:fs";
import { TrlError } from "../../protocol/errors.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
import type { Env } from "../process/environment.ts";

const defaultWorkingDir = "/tmp";

/** Another root need not have anything but itself. */
export const workingDirIn = (sessionIsolation: SessionIsolation | undefined): string =>
  sessionIsolation?.view && sessionIsolation.view.root !== "/" ? "/" : defaultWorkingDir;

/** A path as it is, or a name to be found on the daemon's PATH. In another root it is found there, by its path alone. */
export function resolveShell(given: string | undefined, env: Env, root?: string | null): string {
  const PATH = env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin";
  if (root && root !== "/") return given?.startsWith("/") ? given : `/bin/${given ?? "sh"}`;
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
