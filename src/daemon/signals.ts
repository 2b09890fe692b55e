// What ends the daemon, and what does not.
import { constants } from "node:os";
import type { Log } from "../core/log.ts";
import { isIgnored } from "../platform/libc.ts";

const endingSignals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/**
 * Resolves with the first signal that asks the daemon to end; later ones change nothing. SIGHUP does not where
 * `hungUp` has another use for it.
 */
export function endingSignal(hungUp: () => boolean): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of endingSignals) {
      if (signal === "SIGHUP" && isIgnored(constants.signals.SIGHUP)) continue; // nohup
      process.on(signal, () => {
        if (signal !== "SIGHUP" || !hungUp()) resolve(signal);
      });
    }
  });
}

/** A bug in one request must not take every session with it. */
export function surviveBugs(log: Log): void {
  const report = (error: unknown) => {
    const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
    log.error("internal error", { cause });
  };
  process.on("uncaughtException", report);
  process.on("unhandledRejection", report);
}
