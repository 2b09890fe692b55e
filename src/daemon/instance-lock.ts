// One daemon per socket: an exclusive lock on the pid file. The kernel releases it however the holder ends.
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { tryLock } from "../platform/libc.ts";
import { processTable } from "../platform/process-table.ts";
import { failureOf } from "../util/failure.ts";
import { withPrivateUmask } from "../util/private-files.ts";
import { beside } from "../util/socket-path.ts";
import { OptionError } from "./option-error.ts";

/** For a daemon that is stopping while its successor already starts. */
const lockTimeoutMs = 1500;

export interface InstanceLock {
  /** The lock is held while this descriptor is open, also across exec. */
  fd: number;
  /** The pid of a previous holder that did not release the lock: it was killed. */
  readonly predecessor: number | undefined;
  release(): void;
}

/** In a takeover: the lock that the previous executable acquired. */
export const inheritedLock = (fd: number, socketPath: string): InstanceLock =>
  held(fd, beside(socketPath, ".pid"));

/** Undefined if another daemon holds it. */
export async function acquireLock(socketPath: string): Promise<InstanceLock | undefined> {
  const path = beside(socketPath, ".pid");
  const deadline = performance.now() + lockTimeoutMs;
  for (;;) {
    const fd = openPidFile(path);
    // The last holder may remove the file between `open` and `lock`; a lock on a removed file excludes no other daemon.
    if (tryLock(fd) && isSameFile(fd, path)) return hold(fd, path);
    closeSync(fd);
    if (performance.now() > deadline) return undefined;
    await Bun.sleep(20);
  }
}

export function holderOf(socketPath: string): string | undefined {
  try {
    return readFileSync(beside(socketPath, ".pid"), "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}

/** False if the holder is not known. */
export function isHolderDead(socketPath: string): boolean {
  const holder = processTable.entry(Number(holderOf(socketPath) ?? process.pid));
  return holder === undefined || holder.isZombie;
}

/** Refuses files that are not a pid file of this user: symbolic links, and files with other contents than a pid. */
function openPidFile(path: string): number {
  const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    const fd = withPrivateUmask(() => openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK));
    if (isPidFile(fd)) return fd;
    closeSync(fd);
  } catch (error) {
    throw unusable(path, error);
  }
  throw new OptionError(`${path} exists and is no pid file of this user; choose another --socket-path`);
}

const pidFileBytesMax = 16;

function isPidFile(fd: number): boolean {
  const stat = fstatSync(fd);
  if (!stat.isFile() || stat.uid !== process.getuid?.() || stat.size > pidFileBytesMax) return false;
  return /^\d*\n?$/.test(readFileSync(fd, "latin1"));
}

const unusable = (path: string, error: unknown) =>
  new OptionError(`${path} cannot be used as the pid file: ${failureOf(error)}`);

function hold(fd: number, path: string): InstanceLock {
  const predecessor = Number(readFileSync(path, "latin1")) || undefined;
  const lock = held(fd, path, predecessor);
  try {
    ftruncateSync(fd);
    writeSync(fd, `${process.pid}\n`, 0);
  } catch (error) {
    lock.release(); // for example, the disk is full
    throw unusable(path, error);
  }
  return lock;
}

function held(fd: number, path: string, predecessor?: number): InstanceLock {
  return {
    fd,
    predecessor,
    release() {
      if (isSameFile(fd, path)) unlinkSync(path);
      closeSync(fd);
    },
  };
}

function isSameFile(fd: number, path: string): boolean {
  try {
    return fstatSync(fd).ino === statSync(path).ino;
  } catch {
    return false;
  }
}
