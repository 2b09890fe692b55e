// System calls that Bun does not offer, and direct ones where Node's (`kill`, `writeSync`, `closeSync`) take two to three
// times as long. These are the portable ones; linux/libc.ts has the calls that exist on Linux only or are variadic.
import { FFIType, ptr } from "bun:ffi";
import { constants } from "node:os";
import { openLibrary } from "./c-library.ts";
import * as linux from "./linux/libc.ts";

const { i32, i64, u64, pointer } = FFIType;
const isLinux = process.platform === "linux";

const libc = openLibrary({
  pipe: { args: [pointer], returns: i32 },
  poll: { args: [pointer, u64, i32], returns: i32 },
  waitpid: { args: [i32, pointer, i32], returns: i32 },
  flock: { args: [i32, i32], returns: i32 },
  sigaction: { args: [i32, pointer, pointer], returns: i32 },
  kill: { args: [i32, i32], returns: i32 },
  // The kernel reads and writes less than 2^31 bytes per call, and a 64 bit result would be a BigInt.
  write: { args: [i32, pointer, u64], returns: i32 },
  read: { args: [i32, pointer, u64], returns: i32 },
  close: { args: [i32], returns: i32 },
  pwrite: { args: [i32, pointer, u64, i64], returns: i32 },
  isatty: { args: [i32], returns: i32 },
  clock_gettime: { args: [i32, pointer], returns: i32 },
  ftruncate: { args: [i32, i64], returns: i32 },
});

const POLLIN = 1;
const POLLERR = 8;
const POLLHUP = 16;
const WNOHANG = 1;
const LOCK_EX_NB = 2 | 4;

/** `isatty` of `node:tty` loads Node's streams, which takes milliseconds. */
export const isTerminal = (fd: number): boolean => libc.isatty(fd) === 1;

const pipePair = new Int32Array(2);

/**
 * A real pipe. Bun's own `stdio: "pipe"` is a socket pair, on which programs cannot reopen /dev/stdout, /dev/stderr or
 * /dev/stdin (ENXIO): `echo oops >/dev/stderr` would fail.
 */
export function createPipe(): { readFd: number; writeFd: number } {
  // macOS has no pipe2; there Bun spawns with POSIX_SPAWN_CLOEXEC_DEFAULT, so children do not inherit the pipe.
  const isCreated = isLinux ? linux.createClosedOnExecPipe(pipePair) : libc.pipe(ptr(pipePair)) === 0;
  if (!isCreated) throw new Error("no more file descriptors for a pipe");
  return { readFd: pipePair[0]!, writeFd: pipePair[1]! };
}

/** Enlarges the pipe's buffer, so that its reader wakes up less often. Does nothing outside of Linux. */
export function widenPipe(fd: number): void {
  if (isLinux) linux.widenPipe(fd);
}

/** Another descriptor of the same open file, for the caller to close. Undefined without a free one, or outside of Linux. */
export const duplicate = (fd: number): number | undefined => (isLinux ? linux.duplicate(fd) : undefined);

/** Bytes that a pipe or a socket holds for its reader; undefined outside of Linux. */
export const unreadBytes = (fd: number): number | undefined => (isLinux ? linux.unreadBytes(fd) : undefined);

const pollEntry = new Int32Array(2); // struct pollfd: int fd; short events, revents

/** The events that `poll` reports right now for the descriptor. */
function pollNow(fd: number, events: number): number {
  pollEntry[0] = fd;
  pollEntry[1] = events;
  return libc.poll(ptr(pollEntry), 1, 0) <= 0 ? 0 : pollEntry[1]! >> 16;
}

/** Whether a read returns data without blocking. End of file does not count. */
export const hasInput = (fd: number): boolean => (pollNow(fd, POLLIN) & POLLIN) !== 0;

/** Whether the other end of a pipe is closed for reading, found without writing to it. */
export const isReaderGone = (fd: number): boolean => (pollNow(fd, 0) & (POLLERR | POLLHUP)) !== 0;

/** False if there is no such process, or this user may not signal it. */
export function kill(pid: number, signalNumber: number): boolean {
  return libc.kill(pid, signalNumber) === 0;
}

/** The number of bytes written; negative on any error. */
export function writeSome(fd: number, bytes: Uint8Array): number {
  return bytes.length === 0 ? 0 : libc.write(fd, ptr(bytes), bytes.length);
}

/** False on an error or a partial write. */
export function writeWhole(fd: number, bytes: Uint8Array): boolean {
  return writeSome(fd, bytes) === bytes.length;
}

/** One read into the buffer from `offset` on. The number of bytes; 0 at end of file, negative on an error. */
export function readInto(fd: number, buffer: Uint8Array, offset: number): number {
  return libc.read(fd, ptr(buffer, offset), buffer.length - offset);
}

/** Replaces the content of the file. False on an error or a partial write. */
export function rewriteFile(fd: number, bytes: Uint8Array): boolean {
  const { length } = bytes;
  if (length > 0 && libc.pwrite(fd, ptr(bytes), length, 0) !== length) return false;
  return libc.ftruncate(fd, length) === 0;
}

export function closeFd(fd: number): void {
  libc.close(fd);
}

/** Takes the wait status of a child, if it has ended. Not for children of `Bun.spawn`: Bun waits for those. */
export function reap(pid: number): boolean {
  return libc.waitpid(pid, null, WNOHANG) === pid;
}

const SIG_IGN = 1n;

/** Whether the signal was ignored when this process started, as nohup(1) does with SIGHUP. */
export function isIgnored(signalNumber: number): boolean {
  const action = new BigUint64Array(32); // struct sigaction begins with the handler and is shorter than this
  libc.sigaction(signalNumber, null, ptr(action));
  return action[0] === SIG_IGN;
}

/**
 * A parent that ignores SIGCHLD passes that on to this process, and the kernel then discards the wait status of every
 * child: the exit codes of commands would be lost.
 */
export function restoreChildSignal(): void {
  const { SIGCHLD } = constants.signals;
  if (isIgnored(SIGCHLD)) libc.sigaction(SIGCHLD, ptr(new BigUint64Array(32)), null); // all zeros: SIG_DFL
}

/** Takes an exclusive lock, which the kernel releases when the process ends, also after SIGKILL. */
export function tryLock(fd: number): boolean {
  return libc.flock(fd, LOCK_EX_NB) === 0;
}

const timespec = new BigInt64Array(2);

/** A clock that no setting changes and that runs on while the machine sleeps. */
export const steadyClock = isLinux ? 7 /* CLOCK_BOOTTIME */ : 4; /* CLOCK_MONOTONIC_RAW */

/** A clock of the system in ms; undefined if the system does not have it. */
export function readClock(id: number): number | undefined {
  if (libc.clock_gettime(id, ptr(timespec)) !== 0) return undefined;
  return Number(timespec[0]!) * 1000 + Number(timespec[1]!) / 1e6;
}
