// The boot story: one daemon per socket, a private directory, the sessions, the door, and a clean end.
import { readFileSync, rmSync } from "node:fs";
import { shutdownGraceMs } from "../core/limits.ts";
import type { Log } from "../core/log.ts";
import { descriptorLimit } from "../core/resources.ts";
import { SessionRegistry } from "../core/session/registry.ts";
import { Runtimes } from "../runtime/runtimes.ts";
import { newCounters, type ServerCounters } from "../server/counters.ts";
import { Dispatcher } from "../server/dispatch.ts";
import type { Door } from "../server/door.ts";
import { FrontendAdapter } from "../server/frontend/adapter.ts";
import { createHandlers } from "../server/handlers/handlers.ts";
import { capabilitiesOf } from "../server/handlers/system.ts";
import { isLoopback } from "../server/http/gate.ts";
import { serveHttp } from "../server/http/serve.ts";
import { Router } from "../server/router.ts";
import { serveStdio } from "../server/stdio.ts";
import { serveUnix } from "../server/unix.ts";
import { isOwnSetting } from "../util/engine-settings.ts";
import { beside } from "../util/socket-path.ts";
import { tokenVariable } from "../util/token-file.ts";
import { version } from "../util/version.ts";
import { announceSelf } from "./announcing.ts";
import { CrashRecovery, journalPath } from "./crash-recovery.ts";
import { daemonTag, stdioPlace } from "./daemon-tag.ts";
import { untilIdle } from "./idle-exit.ts";
import { acquireLock, holderOf, type InstanceLock, isHolderDead } from "./instance-lock.ts";
import { createLog } from "./log.ts";
import { OptionError } from "./option-error.ts";
import type { DaemonOptions } from "./options.ts";
import { ownExecutables } from "./own-executables.ts";
import { makeRunDir } from "./run-dir.ts";
import { surviveBugs } from "./signals.ts";
import {
  inspectSettled,
  inspectSocketFile,
  isPathTooLong,
  makeSocketDir,
  removeStale,
} from "./socket-file.ts";
import { freshToken, obtainToken, tokenCheck } from "./token.ts";

export interface Daemon {
  /** Resolves when it has nothing more to do: its standard input has ended, where it speaks there. */
  readonly done: Promise<string>;
  /** Everything that was started is dead and every file removed when it resolves. */
  stop(why: string): Promise<void>;
}

/** Throws an OptionError where the daemon cannot be started as asked. */
export async function boot(options: DaemonOptions): Promise<Daemon> {
  const log = createLog({ format: options.logFormat, isVerbose: options.isVerbose });
  if (process.getuid?.() === 0 && !options.allowsRoot)
    log.warn("running as root: every command is root's, too");
  const { socketPath } = options;
  if (options.socketDir) makeSocketDir(options.socketDir);
  const lock = options.hasSocket ? await claimSocket(socketPath, log) : undefined;
  let runDir: string | undefined;
  const release = () => {
    if (runDir !== undefined) rmSync(runDir, { recursive: true, force: true });
    lock?.release();
  };
  try {
    runDir = makeRunDir(options.runDir, options.env);
    const crash = new CrashRecovery(options, lock, log);
    const registry = new SessionRegistry(coreOptions(options, runDir), log, crash.journal);
    const runtimes = knownRuntimes(options, registry, runDir);
    const counters = newCounters();
    const { doors, httpUrl, done } = openDoors(options, registry, runtimes, counters, crash);
    crash.endLeftovers(runDir);
    const { labels } = options;
    const capabilities = capabilitiesOf({ registry, transports: transportsOf(options), labels });
    const withdraw = announceSelf(options, { http_url: httpUrl, labels, capabilities }, log);
    const isBusy = () => counters.connections > 0 || registry.liveCount > 0;
    surviveBugs(log);
    const where = options.hasSocket ? { socket: socketPath } : {};
    log.info("ready", { ...where, pid: process.pid, version });
    const stop = async (why: string) => {
      log.info("stopping", { why });
      withdraw();
      try {
        for (const door of doors) door.stopAccepting();
        await Promise.all([registry.close(shutdownGraceMs), runtimes.close()]);
        await Promise.all(doors.map((door) => door.farewell()));
        await crash.close();
      } finally {
        release();
      }
      log.info("stopped");
    };
    return { done: Promise.race([done, untilIdle(options.idleExitS, isBusy)]), stop };
  } catch (error) {
    release();
    throw error;
  }
}

/** All lead to the same dispatcher. */
function openDoors(
  options: DaemonOptions,
  registry: SessionRegistry,
  runtimes: Runtimes,
  counters: ServerCounters,
  { recovered, log }: CrashRecovery,
): { doors: Door[]; httpUrl: string | null; done: Promise<string> } {
  const { socketPath, maxLineBytes, stallTimeoutS } = options;
  const transports = transportsOf(options);
  const { labels } = options;
  const handlers = createHandlers({
    registry,
    counters,
    version,
    maxLineBytes,
    stallTimeoutS,
    transports,
    runtimes,
    recovered,
    labels,
    startedAt: new Date(),
  });
  const router = new Router({ runtimes, registry, handlers, labels });
  const given = options.env[tokenVariable];
  const isToken = tokenCheck(
    options.hasSocket || options.http ? obtainToken(socketPath, given) : (given ?? freshToken()),
  );
  const frontend = new FrontendAdapter({ router, terminals: registry.terminals, isToken });
  const dispatcher = new Dispatcher(router, frontend, counters, options.connectionLimits, log);
  const doors: Door[] = [];
  let done = new Promise<string>(() => {});
  let httpUrl: string | null = null;
  if (options.http) {
    const tls = options.http.tls && readTls(options.http.tls);
    const http = orOptionError(`--http${tls ? ", --tls-cert, --tls-key" : ""}`, () =>
      serveHttp({ ...options.http!, tls, isToken, registry, dispatcher, counters, maxLineBytes }),
    );
    doors.push(http);
    httpUrl = http.url;
    log.info("listening", { http: http.url });
    if (!tls && !isLoopback(options.http.hostname))
      log.warn("HTTP without TLS on an address that others can reach: the token travels in clear text");
  }
  // After what may fail: nothing is left of a daemon that did not start.
  if (options.hasSocket) {
    const maxConnections = Math.floor(descriptorLimit() / 2);
    doors.push(serveUnix({ path: socketPath, dispatcher, counters, maxLineBytes, maxConnections }));
  }
  if (options.isStdin) {
    const stdio = serveStdio(dispatcher, counters, maxLineBytes);
    doors.push(stdio);
    done = stdio.ended;
  }
  return { doors, httpUrl, done };
}

/** What they start for their links has our environment, less what is our own business. */
function knownRuntimes(options: DaemonOptions, { custody }: SessionRegistry, runDir: string): Runtimes {
  const entries = Object.entries(options.env).filter(([name]) => !isOwnSetting(name, options.env));
  const env = { ...Object.fromEntries(entries), ...custody.exemption.env };
  const runtimes = new Runtimes({ env, runDir, executables: ownExecutables(options.executablesDir) });
  for (const { name, spec, origin } of options.runtimes)
    orOptionError(`${origin} ${name}`, () => runtimes.add(name, spec));
  return runtimes;
}

function transportsOf({ hasSocket, http, isStdin }: DaemonOptions): string[] {
  const open = [hasSocket && "unix", http && "http", http && "websocket", isStdin && "stdin"];
  return open.filter((name) => typeof name === "string");
}

const readTls = ({ certFile, keyFile }: { certFile: string; keyFile: string }) =>
  orOptionError("--tls-cert, --tls-key", () => ({
    cert: readFileSync(certFile, "utf8"),
    key: readFileSync(keyFile, "utf8"),
  }));

function orOptionError<T>(flag: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw new OptionError(`${flag}: ${(error as Error).message}`);
  }
}

async function claimSocket(path: string, log: Log): Promise<InstanceLock> {
  if (isPathTooLong(path)) throw new OptionError(`the socket's path is too long for the system: ${path}`);
  refuseUnlessOurs(path, await inspectSettled(path, () => isHolderDead(path)));
  const lock = await acquireLock(path);
  if (!lock) throw alreadyRunning(path);
  // With the lock held, nobody else of our kind is about to listen.
  const file = await inspectSocketFile(path);
  refuseUnlessOurs(path, file);
  if (file === "stale") {
    removeStale(path);
    log.warn("removed the socket of a daemon that was killed", { socket: path });
  }
  return lock;
}

function refuseUnlessOurs(path: string, file: Awaited<ReturnType<typeof inspectSocketFile>>): void {
  if (file === "in-use") throw alreadyRunning(path);
  if (file === "not-ours") {
    throw new OptionError(`${path} exists and is not a socket of this user; choose another --socket-path`);
  }
}

function alreadyRunning(path: string): OptionError {
  const pid = holderOf(path);
  const who = pid ? ` (pid ${pid})` : "";
  return new OptionError(
    `a daemon is already running on ${path}${who}; use it, or choose another --socket-path`,
  );
}

function coreOptions(options: DaemonOptions, runDir: string) {
  const { socketPath } = options;
  const place = options.hasSocket ? socketPath : stdioPlace;
  const secretPaths = options.hasSocket
    ? [socketPath, beside(socketPath, ".token"), beside(socketPath, ".pid"), journalPath(socketPath)]
    : [];
  return { ...options, runDir, secretPaths, defaultShell: options.shell, daemonTag: daemonTag(place) };
}
