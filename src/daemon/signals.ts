// Reasons for the daemon to stop (signals, idle exit), and errors that must not stop it.
import { constants } from "node:os";
import type { Log } from "../core/log.ts";
import { isIgnored } from "../platform/libc.ts";

const endingSignals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/**
 * Resolves with the first signal that asks the daemon to stop; later ones are ignored. SIGHUP does not stop it while
 * `hungUp` returns true, because that has started an upgrade.
 */
export function endingSignal(hungUp: () => boolean): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of endingSignals) {
      if (signal === "SIGHUP" && isIgnored(constants.signals.SIGHUP)) continue; // started with nohup
      process.on(signal, () => {
        if (signal !== "SIGHUP" || !hungUp()) resolve(signal);
      });
    }
  });
}

const idleChecksPerTimeout = 10;
const idleCheckMaxMs = 60_000;

/** Resolves when `isBusy` was false at every check for `idleS` seconds; never for 0. */
export function untilIdle(idleS: number, isBusy: () => boolean): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  if (idleS === 0) return promise;
  const idleMs = idleS * 1000;
  let lastBusy = performance.now();
  const check = () => {
    if (isBusy()) lastBusy = performance.now();
    if (performance.now() - lastBusy < idleMs) return;
    clearInterval(timer);
    resolve(`idle for ${idleS} s`);
  };
  const timer = setInterval(check, Math.min(idleMs / idleChecksPerTimeout, idleCheckMaxMs));
  return promise;
}

/** An unhandled error of one request is logged; the daemon and its sessions continue. */
export function logInternalErrors(log: Log): void {
  const report = (error: unknown) => {
    const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
    log.error("internal error", { cause });
  };
  process.on("uncaughtException", report);
  process.on("unhandledRejection", report);
}
