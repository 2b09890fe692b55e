// One daemon for each socket: whoever is there is left alone, and what one that was killed has left is cleared away.
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Log } from "../core/log.ts";
import { isPathTooLong } from "../util/socket-path.ts";
import { untrustedPart } from "../util/trusted-socket.ts";
import { acquireLock, holderOf, type InstanceLock, isHolderDead } from "./instance-lock.ts";
import { OptionError } from "./option-error.ts";
import { inspectSettled, inspectSocketFile, removeStale } from "./socket-file.ts";

export async function claimSocket(
  path: string,
  env: Record<string, string>,
  log: Log,
): Promise<InstanceLock> {
  if (isPathTooLong(path)) throw new OptionError(`the socket's path is too long for the system: ${path}`);
  refuseUntrusted(dirname(path), env);
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

function refuseUntrusted(directory: string, env: Record<string, string>): void {
  if (!existsSync(directory)) return; // the pid file cannot be made there, which is said
  const untrusted = untrustedPart(directory, env);
  if (untrusted) throw new OptionError(`${untrusted.problem}; ${untrusted.remedy}`);
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
