// What can be handed to another program on Linux: descriptors that stay open, a file in memory, signals that wait.
import { FFIType, ptr } from "bun:ffi";
import { constants } from "node:os";
import { openLibrary } from "./libc.ts";

const { i32, u32, pointer } = FFIType;

const open = () =>
  openLibrary({
    memfd_create: { args: [pointer, u32], returns: i32 },
    fcntl: { args: [i32, i32, i32], returns: i32 },
    sigprocmask: { args: [i32, pointer, pointer], returns: i32 },
    prctl: { args: [i32, pointer, pointer, pointer, pointer], returns: i32 },
  });
let library: ReturnType<typeof open> | undefined;
const libc = () => {
  library ??= open();
  return library;
};

const F_SETFD = 2;
const FD_CLOEXEC = 1;
const MFD_CLOEXEC = 1;
const SIG_BLOCK = 0;
const SIG_UNBLOCK = 1;
const PR_SET_NAME = 15;

const text = (words: string) => Buffer.from(`${words}\0`);

/** A file in memory that nobody but who holds its descriptor can find. */
export function createMemoryFile(name: string): number {
  const fd = libc().memfd_create(ptr(text(name)), MFD_CLOEXEC);
  if (fd < 0) throw new Error("the system has no files in memory");
  return fd;
}

export function keepAcrossExec(fd: number, isKept: boolean): void {
  libc().fcntl(fd, F_SETFD, isKept ? 0 : FD_CLOEXEC);
}

/** A signal that comes between two programs is not lost, and does not end the one that has no ear for it yet. */
export function blockSignals(signals: NodeJS.Signals[], isBlocked: boolean): void {
  const set = new BigUint64Array(16); // sigset_t
  for (const signal of signals) set[0] = set[0]! | (1n << BigInt(constants.signals[signal] - 1));
  libc().sigprocmask(isBlocked ? SIG_BLOCK : SIG_UNBLOCK, ptr(set), null);
}

/** As it is listed: a program that is started by its descriptor has a number for a name. */
export function nameProcess(name: string): void {
  libc().prctl(PR_SET_NAME, ptr(text(name)), null, null, null);
}
