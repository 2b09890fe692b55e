// The boot story: one daemon per socket, a private directory, the sessions, the door, and a clean end.
import { rmSync } from "node:fs";
import { shutdownGraceMs } from "../core/limits.ts";
import type { Log } from "../core/log.ts";
import { descriptorLimit } from "../core/resources.ts";
import { SessionRegistry } from "../core/session/registry.ts";
import { newCounters } from "../server/counters.ts";
import { Dispatcher } from "../server/dispatch.ts";
import { FrontendAdapter } from "../server/frontend/adapter.ts";
import { createHandlers } from "../server/handlers/handlers.ts";
import { serveUnix } from "../server/unix.ts";
import { version } from "../util/version.ts";
import { daemonTag, endAbandoned } from "./abandoned.ts";
import { acquireLock, holderOf, type InstanceLock } from "./instance-lock.ts";
import { createLog } from "./log.ts";
import { type DaemonOptions, OptionError } from "./options.ts";
import { makeRunDir } from "./run-dir.ts";
import { surviveBugs } from "./signals.ts";
import { inspectSocketFile, isPathTooLong, makeSocketDir, removeStale } from "./socket-file.ts";
import { obtainToken, tokenCheck, tokenVariable } from "./token.ts";

export interface Daemon {
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
  const lock = await claimSocket(socketPath, log);
  const isToken = tokenCheck(tokenOrRelease(options, lock));
  const runDir = makeRunDir(options.env);
  const registry = new SessionRegistry(coreOptions(options, runDir), log);
  const counters = newCounters();
  const { maxLineBytes, stallTimeoutS } = options;
  const handlers = createHandlers({ registry, counters, version, maxLineBytes, stallTimeoutS });
  const frontend = new FrontendAdapter({ handlers, terminals: registry.terminals, isToken });
  const dispatcher = new Dispatcher(handlers, frontend, log);
  const maxConnections = Math.floor(descriptorLimit() / 2);
  const server = serveUnix({ path: socketPath, dispatcher, counters, maxLineBytes, maxConnections });
  surviveBugs(log);
  log.info("ready", { socket: socketPath, pid: process.pid, version });

  const stop = async (why: string) => {
    log.info("stopping", { why });
    try {
      server.stopAccepting();
      await registry.close(shutdownGraceMs);
      await server.farewell();
    } finally {
      rmSync(runDir, { recursive: true, force: true });
      lock.release();
    }
    log.info("stopped");
  };
  return { stop };
}

function tokenOrRelease({ socketPath, env }: DaemonOptions, lock: InstanceLock): string {
  try {
    return obtainToken(socketPath, env[tokenVariable]);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function claimSocket(path: string, log: Log): Promise<InstanceLock> {
  if (isPathTooLong(path)) throw new OptionError(`the socket's path is too long for the system: ${path}`);
  refuseUnlessOurs(path, await inspectSocketFile(path));
  const lock = await acquireLock(path);
  if (!lock) throw alreadyRunning(path);
  // With the lock held, nobody else of our kind is about to listen.
  const file = await inspectSocketFile(path);
  refuseUnlessOurs(path, file);
  if (file === "stale") {
    removeStale(path);
    const ended = endAbandoned(path);
    log.warn("removed the socket of a daemon that was killed", { socket: path, processesEnded: ended });
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
  return { ...options, runDir, defaultShell: options.shell, daemonTag: daemonTag(options.socketPath) };
}
