// A shell is started inside once before anybody relies on it: limits that are too tight for it, a root without it and
// a sandbox that cannot be made are told at once, and not with the first command.
import { TrlError } from "../../protocol/errors.ts";
import { runHelper } from "../process/helper-program.ts";
import type { ProcessOwnership } from "../process/ownership.ts";
import { launchFailure } from "./launch-prefix.ts";
import type { SessionIsolation } from "./session-isolation.ts";

/** What bwrap and unshare say of themselves, and not of the shell that they were to become. */
const isRefusal = /^(?:bwrap: (?!execvp)|unshare: (?!failed to execute))/;

export async function tryToStart(
  sessionIsolation: SessionIsolation,
  shell: string,
  daemonEnv: Record<string, string>,
  ownership: ProcessOwnership,
): Promise<void> {
  const env = { PATH: daemonEnv["PATH"] ?? "/usr/bin:/bin" };
  const wrapped = sessionIsolation.wrap([shell, "-c", ""], { workingDir: "/" });
  const { exitCode, signal, stderr } = await runHelper(ownership, { ...wrapped, env });
  if (exitCode === 0) return;
  const said = stderr.split("\n").at(-1) ?? "";
  const { limits, cgroup } = sessionIsolation;
  if ((cgroup?.counters().oomKills ?? 0) > 0) {
    const bytes = limits.memory_bytes;
    throw new TrlError(
      "INVALID_PARAMS",
      `isolation.limits.memory_bytes: ${bytes} bytes are too few for ${shell} to start`,
    );
  }
  const detail = said || (signal ?? `exit code ${exitCode}`);
  if (exitCode === launchFailure || isRefusal.test(said))
    throw new TrlError("UNSUPPORTED", `isolation: the machine refused what was asked for: ${detail}`);
  throw new TrlError("INVALID_PARAMS", `isolation: ${shell} cannot be started with it: ${detail}`);
}
