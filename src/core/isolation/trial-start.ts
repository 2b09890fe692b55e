// Starts the shell once in a new isolation, so that too tight limits, a root without the shell or a sandbox that cannot
// be made fail the creation of the session, and not its first command.
import { TrlError } from "../../protocol/errors.ts";
import { runHelper } from "../process/helper-program.ts";
import type { ProcessOwnership } from "../process/ownership.ts";
import { launchFailure } from "./launch-prefix.ts";
import type { SessionIsolation } from "./session-isolation.ts";

/** Errors of bwrap and unshare themselves, not of the exec of the shell. */
const isRefusal = /^(?:bwrap: (?!execvp)|unshare: (?!failed to execute))/;

export async function trialStart(
  sessionIsolation: SessionIsolation,
  shell: string,
  daemonEnv: Record<string, string>,
  ownership: ProcessOwnership,
): Promise<void> {
  const env = { PATH: daemonEnv["PATH"] ?? "/usr/bin:/bin" };
  const wrapped = sessionIsolation.wrap([shell, "-c", ""], { workingDir: "/" });
  const { exitCode, signal, stderr } = await runHelper(ownership, { ...wrapped, env });
  if (exitCode === 0) return;
  const lastLine = stderr.split("\n").at(-1) ?? "";
  const { limits, cgroup } = sessionIsolation;
  if ((cgroup?.counters().oomKills ?? 0) > 0) {
    const bytes = limits.memory_bytes;
    throw new TrlError(
      "INVALID_PARAMS",
      `isolation.limits.memory_bytes: ${bytes} bytes are too few for ${shell} to start`,
    );
  }
  const detail = lastLine || (signal ?? `exit code ${exitCode}`);
  if (exitCode === launchFailure || isRefusal.test(lastLine))
    throw new TrlError("UNSUPPORTED", `isolation: the machine refused what was asked for: ${detail}`);
  throw new TrlError("INVALID_PARAMS", `isolation: ${shell} cannot be started with it: ${detail}`);
}
