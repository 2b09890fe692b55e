// Stops a command. Cancelling is idempotent, so a lost request is sent again.
import { ConnectionError } from "./errors.ts";
import type { Host } from "./host.ts";

const attemptsMax = 5;

/** Resolves when the daemon has the request, has nothing to stop, or cannot be reached. */
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
