// One daemon for each socket: whoever is there is left alone, and what one that was killed has left is cleared away.
import type { Log } from "../core/log.ts";
import { endAbandoned } from "./abandoned.ts";
import { acquireLock, holderOf, type InstanceLock } from "./instance-lock.ts";
import { OptionError } from "./option-error.ts";
import { inspectSocketFile, isPathTooLong, removeStale } from "./socket-file.ts";

export async function claimSocket(path: string, log: Log): Promise<InstanceLock> {
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
