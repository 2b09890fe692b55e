// Claims what only one daemon may have: the socket, by a lock on the pid file, and a private run directory.
import { existsSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import type { Log } from "../core/log.ts";
import { makeOwnDir, removeOwnDir } from "../platform/abandoned-dirs.ts";
import type { StateDocument } from "../upgrade/schema/document.ts";
import { failureOf } from "../util/failure.ts";
import { isPathTooLong } from "../util/socket-path.ts";
import { untrustedPart } from "../util/trusted-socket.ts";
import { acquireLock, holderOf, type InstanceLock, inheritedLock, isHolderDead } from "./instance-lock.ts";
import { OptionError } from "./option-error.ts";
import type { DaemonOptions } from "./options.ts";
import {
  inspectSettled,
  inspectSocketFile,
  makeSocketDir,
  removeStale,
  type SocketFile,
} from "./socket-file.ts";

export interface Instance {
  /** Undefined in a daemon without a socket. */
  lock: InstanceLock | undefined;
  /** For the files of shells; in memory if the system has a memory file system. */
  runDir: string;
}

/** Throws an OptionError if another daemon runs on the socket. Removes the socket file of a killed daemon. */
export async function claimInstance(options: DaemonOptions, log: Log): Promise<Instance> {
  if (options.socketDir) makeSocketDir(options.socketDir);
  const lock = options.hasSocket ? await claimSocket(options.socketPath, options.env, log) : undefined;
  try {
    return { lock, runDir: makeRunDir(options.runDir, options.env) };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

/** The instance of the previous executable, in a takeover. */
export const inheritInstance = (
  { lockFd, runDir }: Pick<StateDocument, "lockFd" | "runDir">,
  { socketPath }: DaemonOptions,
): Instance => ({ lock: lockFd === undefined ? undefined : inheritedLock(lockFd, socketPath), runDir });

export function releaseInstance({ lock, runDir }: Instance, options: DaemonOptions): void {
  rmSync(runDir, { recursive: true, force: true });
  lock?.release();
  // The caller of a temporary daemon made the directory, and may have been killed.
  if (options.isForCaller) removeOwnDir(dirname(options.socketPath));
}

async function claimSocket(path: string, env: Record<string, string>, log: Log): Promise<InstanceLock> {
  if (isPathTooLong(path)) throw new OptionError(`the socket's path is too long for the system: ${path}`);
  refuseUntrusted(dirname(path), env);
  refuseUnusable(path, await inspectSettled(path, () => isHolderDead(path)));
  const lock = await acquireLock(path);
  if (!lock) throw alreadyRunning(path);
  // While this process holds the lock, no other daemon starts to listen on the path.
  const file = await inspectSocketFile(path);
  refuseUnusable(path, file);
  if (file === "stale") {
    removeStale(path);
    log.warn("removed the socket of a daemon that was killed", { socket: path });
  }
  return lock;
}

function refuseUntrusted(directory: string, env: Record<string, string>): void {
  if (!existsSync(directory)) return; // creating the pid file reports that
  const untrusted = untrustedPart(directory, env);
  if (untrusted) throw new OptionError(`${untrusted.problem}; ${untrusted.remedy}`);
}

function refuseUnusable(path: string, file: SocketFile): void {
  if (file === "in-use") throw alreadyRunning(path);
  if (file === "not-ours") {
    throw new OptionError(`${path} exists and is not a socket of this user; choose another --socket-path`);
  }
}

function alreadyRunning(path: string): OptionError {
  const pid = holderOf(path);
  const holder = pid ? ` (pid ${pid})` : "";
  return new OptionError(
    `a daemon is already running on ${path}${holder}; use it, or choose another --socket-path`,
  );
}

function makeRunDir(asked: string | undefined, env: Record<string, string>): string {
  const candidates = asked === undefined ? [env["XDG_RUNTIME_DIR"], "/dev/shm", tmpdir()] : [asked];
  let cause = "";
  for (const base of candidates) {
    if (!base?.startsWith("/")) continue;
    try {
      return makeOwnDir(base);
    } catch (error) {
      cause = failureOf(error); // missing or not writable: the next candidate may do
    }
  }
  const tried = candidates.filter(Boolean).join(", ");
  throw new OptionError(`the private directory cannot be made (tried ${tried}): ${cause}; see --run-dir`);
}
