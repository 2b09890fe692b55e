// System calls that exist on Linux only, and variadic ones (open, fcntl, ioctl, prctl): on macOS arm64 variadic arguments
// are passed on the stack, so a call through bun:ffi would break there.
import { FFIType, ptr } from "bun:ffi";
import { constants } from "node:os";
import { openOnDemand } from "../c-library.ts";

const { i32, u64, pointer } = FFIType;

const libc = openOnDemand({
  pipe2: { args: [pointer, i32], returns: i32 },
  prctl: { args: [i32, u64, u64, u64, u64], returns: i32 },
  fcntl: { args: [i32, i32, i32], returns: i32 },
  ioctl: { args: [i32, u64, u64], returns: i32 },
  socketpair: { args: [i32, i32, i32, pointer], returns: i32 },
  open: { args: [pointer, i32, i32], returns: i32 },
  read: { args: [i32, pointer, u64], returns: i32 },
  close: { args: [i32], returns: i32 },
  waitid: { args: [i32, i32, pointer, i32], returns: i32 },
  getrlimit: { args: [i32, pointer], returns: i32 },
  setrlimit: { args: [i32, pointer], returns: i32 },
});

const O_CLOEXEC = 0o2000000;

/** Fills the pair with the read end and the write end. */
export const createClosedOnExecPipe = (pair: Int32Array): boolean => libc().pipe2(ptr(pair), O_CLOEXEC) === 0;

const F_SETPIPE_SZ = 1031;
const F_DUPFD_CLOEXEC = 1030;
/** Four times the default. With larger chunks the engine allocates faster than it collects. */
const widePipeBytes = 256 * 1024;

export function widenPipe(fd: number): void {
  libc().fcntl(fd, F_SETPIPE_SZ, widePipeBytes);
}

export function duplicate(fd: number): number | undefined {
  const copy = libc().fcntl(fd, F_DUPFD_CLOEXEC, 3);
  return copy < 0 ? undefined : copy;
}

const AF_UNIX = 1;
const SOCK_STREAM_NONBLOCK_CLOEXEC = 1 | 0o4000 | 0o2000000;
const socketPair = new Int32Array(2);

/** Two connected sockets; undefined if no descriptors are free. */
export function createSocketPair(): [number, number] | undefined {
  if (libc().socketpair(AF_UNIX, SOCK_STREAM_NONBLOCK_CLOEXEC, 0, ptr(socketPair)) !== 0) return undefined;
  return [socketPair[0]!, socketPair[1]!];
}

export function ioctl(fd: number, request: number, value: number): boolean {
  return libc().ioctl(fd, request, value) === 0;
}

/** For requests that open a descriptor with these flags; the caller closes it. */
export function ioctlOpen(fd: number, request: number, flags: number): number | undefined {
  const opened = libc().ioctl(fd, request, flags | O_CLOEXEC);
  return opened < 0 ? undefined : opened;
}

/** For requests that read a structure. */
export function ioctlWith(fd: number, request: number, structure: Uint16Array): boolean {
  return libc().ioctl(fd, request, ptr(structure)) === 0;
}

const count = new Int32Array(1);

/** For requests that return one number. */
export function ioctlNumber(fd: number, request: number): number | undefined {
  return libc().ioctl(fd, request, ptr(count)) === 0 ? count[0]! : undefined;
}

export const FIONREAD = 0x541b;
export const unreadBytes = (fd: number): number | undefined => ioctlNumber(fd, FIONREAD);

const PR_SET_PDEATHSIG = 1;
const PR_SET_CHILD_SUBREAPER = 36;

export function becomeSubreaper(): boolean {
  return libc().prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) === 0;
}

export function dieWithParent(): void {
  libc().prctl(PR_SET_PDEATHSIG, constants.signals.SIGKILL, 0, 0, 0);
}

const P_ALL = 0;
const P_PID = 1;
const WNOHANG = 1;
const WEXITED = 4;
const WNOWAIT = 0x1000000;
/** siginfo_t: signal, error, code, 4 bytes of padding on 64 bit systems, then the pid. */
const childInfo = new Int32Array(32);

/** Any child that has ended and is not reaped; it stays a zombie. */
export function endedChild(): number | undefined {
  childInfo[4] = 0;
  const hasFailed = libc().waitid(P_ALL, 0, ptr(childInfo), WNOHANG | WEXITED | WNOWAIT) !== 0;
  return hasFailed || childInfo[4] === 0 ? undefined : childInfo[4];
}

/** Whether the child has ended and is not reaped; it stays a zombie. */
export function hasChildEnded(pid: number): boolean {
  childInfo[4] = 0;
  const isWaitable = libc().waitid(P_PID, pid, ptr(childInfo), WNOHANG | WEXITED | WNOWAIT) === 0;
  return isWaitable && childInfo[4] === pid;
}

let fileBytes = Buffer.allocUnsafeSlow(16 * 1024);
const pathBytes = Buffer.allocUnsafeSlow(256);

/**
 * The whole content of a file in /proc as latin1; undefined if it cannot be read. Takes half the time of `readFileSync`.
 * For a process that has ended, the exception of `readFileSync` costs as much again.
 */
export function readSystemFile(path: string): string | undefined {
  pathBytes[pathBytes.write(path, "latin1")] = 0;
  const { open, read, close } = libc();
  const fd = open(ptr(pathBytes), O_CLOEXEC, 0);
  if (fd < 0) return undefined;
  let length = 0;
  for (;;) {
    if (length === fileBytes.length) fileBytes = Buffer.concat([fileBytes], length * 2);
    const count = read(fd, ptr(fileBytes, length), fileBytes.length - length);
    if (count <= 0) {
      close(fd);
      return count < 0 ? undefined : fileBytes.toString("latin1", 0, length);
    }
    length += count;
  }
}

const limitPair = new BigUint64Array(2); // struct rlimit: soft, hard

export interface ResourceLimit {
  soft: bigint;
  hard: bigint;
}

/** A limit of this process; undefined if the kernel does not know it. */
export function ownLimit(resource: number): ResourceLimit | undefined {
  if (libc().getrlimit(resource, ptr(limitPair)) !== 0) return undefined;
  return { soft: limitPair[0]!, hard: limitPair[1]! };
}

/** Children that start afterwards inherit the limit. */
export function setOwnLimit(resource: number, { soft, hard }: ResourceLimit): void {
  limitPair[0] = soft;
  limitPair[1] = hard;
  libc().setrlimit(resource, ptr(limitPair));
}
