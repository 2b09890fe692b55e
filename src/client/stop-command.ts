// Stops a command for good: to say so twice is to say it once, so that a lost request is made again.
import { ConnectionError } from "./errors.ts";
import type { Host } from "./host.ts";

const attemptsMax = 5;

/** Resolves when the daemon was told, or has nothing to stop, or is not to be reached. */
export async function stopCommand(host: Host, commandId: string): Promise<void> {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    try {
      await host.call("exec.cancel", { stream_id: commandId });
      return;
    } catch (error) {
      if (!(error instanceof ConnectionError && error.mayHaveRun)) return;
    }
  }
}
