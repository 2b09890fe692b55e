// The command line that starts this program again as a daemon, and waiting until that daemon listens.
import type { DaemonClient } from "./client.ts";
import { tryConnect } from "./connection.ts";
import { CliError, unavailableExitCode } from "./errors.ts";
import { withProgress } from "./ui/progress.ts";

const startTimeoutMs = 5000;

/** The compiled executable, or Bun with the entry file when run from source. */
export function ownProgram(): string[] {
  const isCompiled = Bun.main.startsWith("/$bunfs/");
  return isCompiled ? [process.execPath] : [process.execPath, Bun.main];
}

export async function untilListening(child: Bun.Subprocess, socketPath: string): Promise<DaemonClient> {
  const listening = untilReached(child, socketPath, () => tryConnect(socketPath));
  return await withProgress("waiting for the daemon to start", listening);
}

/** Accepts any daemon on the socket: if several start at the same time, only one gets the lock. */
export async function untilReached<T>(
  child: Bun.Subprocess,
  socketPath: string,
  reach: () => Promise<T | undefined>,
): Promise<T> {
  const deadline = performance.now() + startTimeoutMs;
  for (let isLast = false; !isLast; await Bun.sleep(2)) {
    isLast = performance.now() > deadline || child.exitCode !== null;
    const reached = await reach();
    if (reached !== undefined) return reached;
  }
  throw new CliError(
    "a daemon could not be started",
    unavailableExitCode,
    `see why with: trl serve --verbose --socket-path ${socketPath}`,
  );
}
