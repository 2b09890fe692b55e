// The few system calls that Bun has no door for, and those whose door is too wide for the way of a command: Node's
// `kill`, `writeSync` and `closeSync` cost two to three times as much. Those that are variadic (prctl, fcntl, ioctl) are called on Linux only,
// where variadic arguments travel like others: on macOS arm64 the call would break.
import { FFIType, ptr } from "bun:ffi";
import { constants } from "node:os";
import { openLibrary } from "./c-library.ts";

const { i32, u64, pointer } = FFIType;
const isLinux = process.platform === "linux";

const shared = {
  pipe: { args: [pointer], returns: i32 },
  poll: { args: [pointer, u64, i32], returns: i32 },
  waitpid: { args: [i32, pointer, i32], returns: i32 },
  flock: { args: [i32, i32], returns: i32 },
  sigaction: { args: [i32, pointer, pointer], returns: i32 },
  kill: { args: [i32, i32], returns: i32 },
  // The kernel reads and writes less than 2^31 bytes at a time, and a 64 bit result would be a BigInt.
  write: { args: [i32, pointer, u64], returns: i32 },
  read: { args: [i32, pointer, u64], returns: i32 },
  close: { args: [i32], returns: i32 },
  pwrite: { args: [i32, pointer, u64, FFIType.i64], returns: i32 },
  isatty: { args: [i32], returns: i32 },
  clock_gettime: { args: [i32, pointer], returns: i32 },
  ftruncate: { args: [i32, FFIType.i64], returns: i32 },
} as const;
const linuxOnly = {
  pipe2: { args: [pointer, i32], returns: i32 },
  prctl: { args: [i32, u64, u64, u64, u64], returns: i32 },
  fcntl: { args: [i32, i32, i32], returns: i32 },
  ioctl: { args: [i32, u64, u64], returns: i32 },
  socketpair: { args: [i32, i32, i32, pointer], returns: i32 },
  open: { args: [pointer, i32, i32], returns: i32 },
  waitid: { args: [i32, i32, pointer, i32], returns: i32 },
  getrlimit: { args: [i32, pointer], returns: i32 },
  setrlimit: { args: [i32, pointer], returns: i32 },
} as const;

const libc = openLibrary(
  (isLinux ? { ...shared, ...linuxOnly } : shared) as typeof shared & typeof linuxOnly,
);

const O_CLOEXEC = 0o2000000;
const POLLIN = 1;
const POLLERR = 8;
const POLLHUP = 16;
const WNOHANG = 1;
const LOCK_EX_NB = 2 | 4;
const PR_SET_PDEATHSIG = 1;
const PR_SET_CHILD_SUBREAPER = 36;
const F_SETPIPE_SZ = 1031;
const F_DUPFD_CLOEXEC = 1030;
/** Four times the usual; more makes the engine allocate more than it is quick to collect. */
const widePipeBytes = 256 * 1024;

const pair = new Int32Array(2);

/** As `isatty` of `node:tty`, which brings streams along. */
export const isTerminal = (fd: number): boolean => libc.isatty(fd) === 1;

/**
 * A real pipe, read end first. Bun's own `stdio: "pipe"` is a socket pair, on which programs cannot reopen
 * /dev/stdout, /dev/stderr or /dev/stdin (ENXIO): `echo oops >/dev/stderr` would fail.
 */
export function createPipe(): { readFd: number; writeFd: number } {
  // macOS has no pipe2; there Bun spawns with POSIX_SPAWN_CLOEXEC_DEFAULT, so nothing leaks.
  const failed = isLinux ? libc.pipe2(ptr(pair), O_CLOEXEC) : libc.pipe(ptr(pair));
  if (failed !== 0) throw new Error("no more file descriptors for a pipe");
  return { readFd: pair[0]!, writeFd: pair[1]! };
}

/** Lets a pipe hold more at a time, where the system allows it; its reader is woken less often. */
export function widenPipe(fd: number): void {
  if (isLinux) libc.fcntl(fd, F_SETPIPE_SZ, widePipeBytes);
}

const pollEntry = new Int32Array(2); // struct pollfd: int fd; short events, revents

/** Whether a read would give data at once (end of file counts as nothing). */
export function hasInput(fd: number): boolean {
  pollEntry[0] = fd;
  pollEntry[1] = POLLIN;
  if (libc.poll(ptr(pollEntry), 1, 0) <= 0) return false;
  return ((pollEntry[1]! >> 16) & POLLIN) !== 0;
}

/** Whether what is written there would reach nobody. A pipe tells it without being written to. */
export function isReaderGone(fd: number): boolean {
  pollEntry[0] = fd;
  pollEntry[1] = 0;
  if (libc.poll(ptr(pollEntry), 1, 0) <= 0) return false;
  return ((pollEntry[1]! >> 16) & (POLLERR | POLLHUP)) !== 0;
}

/** False where nobody is there, or not one of ours. */
export function kill(pid: number, signalNumber: number): boolean {
  return libc.kill(pid, signalNumber) === 0;
}

/** How many bytes were taken; less than 0 where it failed, for whatever reason. */
export function writeSome(fd: number, bytes: Uint8Array): number {
  return bytes.length === 0 ? 0 : libc.write(fd, ptr(bytes), bytes.length);
}

/** False where not all of it was taken. */
export function writeWhole(fd: number, bytes: Uint8Array): boolean {
  return writeSome(fd, bytes) === bytes.length;
}

/** Fills the memory from there on, with what one read gives; how many bytes that was, and not more than 0 where none came. */
export function readInto(fd: number, memory: Uint8Array, from: number): number {
  return libc.read(fd, ptr(memory, from), memory.length - from);
}

/** Makes this all that the file holds. False where it was not taken. */
export function rewriteFile(fd: number, bytes: Uint8Array): boolean {
  const { length } = bytes;
  if (length > 0 && libc.pwrite(fd, ptr(bytes), length, 0) !== length) return false;
  return libc.ftruncate(fd, length) === 0;
}

export function closeFd(fd: number): void {
  libc.close(fd);
}

/** Orphans of our descendants become our children instead of init's. Linux only. */
export function becomeSubreaper(): boolean {
  return isLinux && libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) === 0;
}

/** This process is killed when the one that started it ends. Linux only. */
export function dieWithParent(): void {
  if (isLinux) libc.prctl(PR_SET_PDEATHSIG, constants.signals.SIGKILL, 0, 0, 0);
}

/** Takes the wait status of a child that is not Bun's, if it has ended. */
export function reap(pid: number): boolean {
  return libc.waitpid(pid, null, WNOHANG) === pid;
}

const P_ALL = 0;
const P_PID = 1;
const WEXITED = 4;
const WNOWAIT = 0x1000000;
/** siginfo_t: signal, error, code, a gap on 64 bit systems, then the pid. */
const childInfo = new Int32Array(32);

/** A child that has ended and whose wait status has not been taken; it stays so. Linux only. */
export function endedChild(): number | undefined {
  childInfo[4] = 0;
  const failed = libc.waitid(P_ALL, 0, ptr(childInfo), WNOHANG | WEXITED | WNOWAIT) !== 0;
  return failed || childInfo[4] === 0 ? undefined : childInfo[4];
}

/** Whether that child has ended, also where its wait status has not been taken yet. Elsewhere than on Linux it is false. */
export function hasChildEnded(pid: number): boolean {
  if (!isLinux) return false;
  childInfo[4] = 0;
  return libc.waitid(P_PID, pid, ptr(childInfo), WNOHANG | WEXITED | WNOWAIT) === 0 && childInfo[4] === pid;
}

let fileBytes = Buffer.allocUnsafeSlow(16 * 1024);
const pathBytes = Buffer.allocUnsafeSlow(256);

/**
 * All of a file that the kernel makes up, one byte a character; undefined where it cannot be read. Takes half the time of `readFileSync`,
 * whose exceptions cost as much again for a process that has ended meanwhile. Linux only.
 */
export function readSystemFile(path: string): string | undefined {
  pathBytes[pathBytes.write(path, "latin1")] = 0;
  const fd = libc.open(ptr(pathBytes), O_CLOEXEC, 0);
  if (fd < 0) return undefined;
  let length = 0;
  for (;;) {
    if (length === fileBytes.length) fileBytes = Buffer.concat([fileBytes], length * 2);
    const read = libc.read(fd, ptr(fileBytes, length), fileBytes.length - length);
    if (read <= 0) {
      libc.close(fd);
      return read < 0 ? undefined : fileBytes.toString("latin1", 0, length);
    }
    length += read;
  }
}

const limitPair = new BigUint64Array(2); // struct rlimit: soft, hard

/** Soft and hard limit of this process; undefined where the system does not tell. Linux only. */
export function ownLimit(resource: number): { soft: bigint; hard: bigint } | undefined {
  if (libc.getrlimit(resource, ptr(limitPair)) !== 0) return undefined;
  return { soft: limitPair[0]!, hard: limitPair[1]! };
}

/** Children inherit it. Linux only. */
export function setOwnLimit(resource: number, soft: bigint, hard: bigint): void {
  limitPair[0] = soft;
  limitPair[1] = hard;
  libc.setrlimit(resource, ptr(limitPair));
}

const SIG_IGN = 1n;

/** Whether whoever started us wanted the signal ignored, as nohup(1) does. One that is pending stays so. */
export function isIgnored(signalNumber: number): boolean {
  const action = new BigUint64Array(32); // struct sigaction, which begins with the handler
  libc.sigaction(signalNumber, null, ptr(action));
  return action[0] === SIG_IGN;
}

/**
 * A program that ignores SIGCHLD passes that on to what it starts, and the kernel then discards the wait status of every
 * child: how a command ended could not be known.
 */
export function restoreChildSignal(): void {
  const { SIGCHLD } = constants.signals;
  if (isIgnored(SIGCHLD)) libc.sigaction(SIGCHLD, ptr(new BigUint64Array(32)), null); // all zeros: the default
}

/** An exclusive lock that the kernel gives back when the process ends, however it ends. */
export function tryLock(fd: number): boolean {
  return libc.flock(fd, LOCK_EX_NB) === 0;
}

/** Linux only. */
export function ioctl(fd: number, request: number, value: number): boolean {
  return libc.ioctl(fd, request, value) === 0;
}

/** For requests that open a descriptor, by these flags; to be closed by the caller. Linux only. */
export function ioctlOpen(fd: number, request: number, flags: number): number | undefined {
  const opened = libc.ioctl(fd, request, flags | O_CLOEXEC);
  return opened < 0 ? undefined : opened;
}

/** For requests that are given a structure. Linux only. */
export function ioctlWith(fd: number, request: number, structure: Uint16Array): boolean {
  return libc.ioctl(fd, request, ptr(structure)) === 0;
}

const count = new Int32Array(1);

/** For requests that answer with one number. Linux only. */
export function ioctlNumber(fd: number, request: number): number | undefined {
  return libc.ioctl(fd, request, ptr(count)) === 0 ? count[0]! : undefined;
}

/** The lowest free number, for the same open file; to be closed by the caller. Linux only. */
export function duplicate(fd: number): number | undefined {
  const copy = libc.fcntl(fd, F_DUPFD_CLOEXEC, 3);
  return copy < 0 ? undefined : copy;
}

const AF_UNIX = 1;
const SOCK_STREAM_NONBLOCK_CLOEXEC = 1 | 0o4000 | 0o2000000;

/** Two sockets that are connected to each other; undefined where there are no more descriptors. Linux only. */
export function createSocketPair(): [number, number] | undefined {
  const failed = libc.socketpair(AF_UNIX, SOCK_STREAM_NONBLOCK_CLOEXEC, 0, ptr(pair)) !== 0;
  return failed ? undefined : [pair[0]!, pair[1]!];
}

const CPUCLOCK_SCHED = 2;
const timespec = new BigInt64Array(2);

/** One of the system's clocks, in ms. */
export function readClock(id: number): number {
  if (libc.clock_gettime(id, ptr(timespec)) !== 0) throw new Error(`there is no clock ${id}`);
  return Number(timespec[0]!) * 1000 + Number(timespec[1]!) / 1e6;
}

/** Processor time of a process so far, without that of its children. Linux only. */
export function cpuMsOf(pid: number): number | undefined {
  if (libc.clock_gettime((~pid << 3) | CPUCLOCK_SCHED, ptr(timespec)) !== 0) return undefined;
  return Number(timespec[0]!) * 1000 + Number(timespec[1]!) / 1e6;
}
