// How this program starts itself as a daemon, and waits for it.
import type { DaemonClient } from "./client.ts";
import { tryConnect } from "./connection.ts";
import { CliError, unavailableExitCode } from "./errors.ts";
import { withProgress } from "./ui/progress.ts";

const startPatienceMs = 5000;

/** The compiled executable is the program; from source, Bun runs the entry file. */
export function ownProgram(): string[] {
  const isCompiled = Bun.main.startsWith("/$bunfs/");
  return isCompiled ? [process.execPath] : [process.execPath, Bun.main];
}

export async function untilListening(child: Bun.Subprocess, socketPath: string): Promise<DaemonClient> {
  const listening = untilReached(child, socketPath, () => tryConnect(socketPath));
  return await withProgress("waiting for the daemon to start", listening);
}

/** Somebody else's daemon will do as well: of several that start at once, one lives. */
export async function untilReached<T>(
  child: Bun.Subprocess,
  socketPath: string,
  reach: () => Promise<T | undefined>,
): Promise<T> {
  const deadline = performance.now() + startPatienceMs;
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
