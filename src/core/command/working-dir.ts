// Default directory and shell of sessions and terminals.
import { accessSync, constants, statSync } from "node:fs";
import { TrlError } from "../../protocol/errors.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
import type { Env } from "../process/environment.ts";

const defaultWorkingDir = "/tmp";

/** Another root may lack every directory but `/`. */
export const workingDirIn = (sessionIsolation: SessionIsolation | undefined): string =>
  sessionIsolation?.view && sessionIsolation.view.root !== "/" ? "/" : defaultWorkingDir;

/** A path, or a name that is looked up on the daemon's PATH. In another root only paths are resolved. */
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
