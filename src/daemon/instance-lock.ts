// One daemon per socket: an exclusive lock on the pid file, which the kernel gives back however the holder ends.

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

/** A daemon that was told to stop needs a moment; its successor may already be starting. */
const patienceMs = 1500;

export interface InstanceLock {
  /** It is held as long as this is open, in whatever program. */
  fd: number;
  /** Who held it last and did not give it back: it was killed, or it would not be ours now. */
  readonly predecessor: number | undefined;
  release(): void;
}

/** One that the program before us holds. */
export const keptLock = (fd: number, socketPath: string): InstanceLock =>
  held(fd, beside(socketPath, ".pid"));

/** Undefined where another daemon holds it. */
export async function acquireLock(socketPath: string): Promise<InstanceLock | undefined> {
  const path = beside(socketPath, ".pid");
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const fd = openPidFile(path);
    // The file may have been removed by its last holder between the opening and the locking.
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

/** False where it is not known. */
export function isHolderDead(socketPath: string): boolean {
  const holder = processTable.entry(Number(holderOf(socketPath) ?? process.pid));
  return holder === undefined || holder.isZombie;
}

/** Never another's file: not through a link, and not one that holds something else than a pid. */
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
    lock.release(); // the disk is full
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
