// Boots the daemon: claims the socket, creates the services, opens the listeners, recovers from a crash and writes the
// discovery file. In a takeover the same steps use the state of the previous executable.

import { shutdownGraceMs } from "../core/limits.ts";
import type { Log } from "../core/log.ts";
import { restoreChildSignal } from "../platform/libc.ts";
import { hasFewProcesses } from "../platform/linux/process-limit.ts";
import { prepareReadiness } from "../platform/readiness.ts";
import { CrashRecovery } from "../recovery/crash-recovery.ts";
import type { Upgrading } from "../server/handlers/handlers.ts";
import { capabilitiesOf } from "../server/handlers/system.ts";
import { Server } from "../server/server.ts";
import { finishTakeover, type Takeover } from "../upgrade/restore/takeover.ts";
import { Upgrader } from "../upgrade/upgrader.ts";
import { hasThreads, withoutThreads } from "../util/engine-settings.ts";
import { version } from "../util/version.ts";
import { claimInstance, type Instance, inheritInstance, releaseInstance } from "./claim-instance.ts";
import { announceDaemon } from "./discovery-file.ts";
import { Listeners } from "./listeners.ts";
import { createLog } from "./log.ts";
import type { DaemonOptions } from "./options.ts";
import { createServices, type Services } from "./services.ts";
import { logInternalErrors, untilIdle } from "./signals.ts";

export interface Daemon {
  /** Resolves with the reason when the daemon should stop by itself: end of standard input, idle exit, or a restart. */
  readonly done: Promise<string>;
  /** Resolves when every process that the daemon started has ended and its files are removed. */
  stop(reason: string): Promise<void>;
  /** Handles SIGHUP. True if it starts an upgrade; false if SIGHUP should end the daemon. */
  hungUp(): boolean;
}

/** Throws an OptionError if the daemon cannot be started as the options ask. */
export async function boot(options: DaemonOptions, takeover?: Takeover): Promise<Daemon> {
  prepareProcess(options);
  const log = createLog({ format: options.logFormat, isVerbose: options.isVerbose });
  if (!takeover) warnOfRisks(options, log);
  const instance = takeover
    ? inheritInstance(takeover.state.document, options)
    : await claimInstance(options, log);
  try {
    return await start(options, instance, takeover, log);
  } catch (error) {
    if (!takeover) releaseInstance(instance, options); // after a failed takeover the rollback needs it
    throw error;
  }
}

async function start(
  options: DaemonOptions,
  instance: Instance,
  takeover: Takeover | undefined,
  log: Log,
): Promise<Daemon> {
  const { lock, runDir } = instance;
  const document = takeover?.state.document;
  const recovery = new CrashRecovery(options, lock?.predecessor, log, document?.recovered);
  const services = createServices(options, runDir, recovery, takeover, log);
  const { registry, counters } = services;
  const listeners = new Listeners(options, document, log);
  const restart = new Restart();
  const upgrader = new Upgrader(
    {
      ...{ ...services, listeners, lock, runDir, env: process.env, isStdin: options.isStdin },
      isClearing: () => recovery.isClearing,
      restart: (exec) => restart.request(exec),
    },
    log,
  );

  listeners.open(createServer(options, services, listeners.isToken, upgrader, log), registry, document);
  recovery.endLeftovers(runDir, registry.ownership.slicer);
  const withdraw = announce(options, services, instance, listeners, log);
  logInternalErrors(log);

  if (takeover) finishTakeover(takeover, { upgrader, registry, log });
  else {
    const where = options.hasSocket ? { socket: options.socketPath } : {};
    log.info("ready", { ...where, pid: process.pid, version });
  }
  await guardAgainstStalls(options);
  const isBusy = () => counters.connections > 0 || registry.liveCount > 0;
  return {
    done: Promise.race([listeners.stdinEnded, untilIdle(options.idleExitS, isBusy), restart.requested]),
    hungUp: () => upgrader.hungUp(),
    async stop(reason) {
      log.info("stopping", { why: reason });
      upgrader.stop();
      withdraw();
      try {
        await stopServices(services, listeners, recovery);
      } finally {
        releaseInstance(instance, options);
      }
      log.info("stopped");
      restart.exec();
    },
  };
}

async function stopServices(
  { registry, runtimes }: Services,
  listeners: Listeners,
  recovery: CrashRecovery,
): Promise<void> {
  listeners.stopAccepting();
  await Promise.all([registry.close(shutdownGraceMs), runtimes.close()]);
  await listeners.close();
  await recovery.close();
}

/** An upgrade without a handover: the daemon stops, and then execs the new program. */
class Restart {
  #exec = () => {};
  readonly #requested = Promise.withResolvers<string>();

  request(exec: () => void): void {
    this.#exec = exec;
    this.#requested.resolve("restart for an upgrade");
  }

  get requested(): Promise<string> {
    return this.#requested.promise;
  }

  /** Does nothing if no restart was requested. */
  exec(): void {
    this.#exec();
  }
}

/** Must run before the process starts a child or listens. */
function prepareProcess({ fast }: DaemonOptions): void {
  restoreChildSignal();
  if (fast["direct-read"]) prepareReadiness();
}

function warnOfRisks({ allowsRoot }: DaemonOptions, log: Log): void {
  if (process.getuid?.() === 0 && !allowsRoot) log.warn("running as root: every command is root's, too");
  if (process.platform !== "linux" || !hasThreads(process.env) || !hasFewProcesses()) return;
  const assignments = Object.entries(withoutThreads).map((entry) => entry.join("="));
  log.warn("few processes are allowed: a session that takes all of them can end the daemon", {
    set: assignments.join(" "),
  });
}

function createServer(
  options: DaemonOptions,
  services: Services,
  isToken: (given: string) => boolean,
  upgrading: Upgrading,
  log: Log,
): Server {
  const { maxLineBytes, stallTimeoutS, labels, connectionLimits } = options;
  const { validator, encoder } = services.accelerators;
  const transports = transportsOf(options);
  const settings = { version, maxLineBytes, stallTimeoutS, labels, transports, connectionLimits };
  return new Server({ ...services, ...settings, validator, encoder, isToken, upgrading, log });
}

function announce(
  options: DaemonOptions,
  { registry, startedAt }: Services,
  { runDir }: Instance,
  { http }: Listeners,
  log: Log,
): () => void {
  const { labels } = options;
  const described = {
    run_dir: runDir,
    http_url: http?.url ?? null,
    labels,
    capabilities: capabilitiesOf({ registry, transports: transportsOf(options), labels }),
    started_at: startedAt.toISOString(),
  };
  return announceDaemon(options, described, log);
}

function transportsOf({ hasSocket, http, isStdin }: DaemonOptions): string[] {
  const open = [hasSocket && "unix", http && "http", http && "websocket", isStdin && "stdin"];
  return open.filter((name) => typeof name === "string");
}

/** In tests only: the test runner sets the variable. */
async function guardAgainstStalls({ env }: DaemonOptions): Promise<void> {
  if (!env["TRL_STALL_FILE"] || process.platform !== "linux") return;
  (await import("../platform/linux/stall-guard.ts")).guardAgainstStalls(env);
}
