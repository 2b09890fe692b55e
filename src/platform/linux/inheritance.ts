// What another program inherits across `exec` on Linux: descriptors that stay open, and a file in memory.
import { FFIType, ptr } from "bun:ffi";
import { cString, openOnDemand } from "../c-library.ts";

const { i32, u32, pointer } = FFIType;
const libc = openOnDemand({
  memfd_create: { args: [pointer, u32], returns: i32 },
  fcntl: { args: [i32, i32, i32], returns: i32 },
  prctl: { args: [i32, pointer, pointer, pointer, pointer], returns: i32 },
});

const F_SETFD = 2;
const FD_CLOEXEC = 1;
const MFD_CLOEXEC = 1;
const PR_SET_NAME = 15;

/** A file in memory without a path: only its descriptor gives access to it. */
export function createMemoryFile(name: string): number {
  const fd = libc().memfd_create(ptr(cString(name)), MFD_CLOEXEC);
  if (fd < 0) throw new Error("could not create a file in memory (memfd_create)");
  return fd;
}

export function keepAcrossExec(fd: number, isKept: boolean): void {
  libc().fcntl(fd, F_SETFD, isKept ? 0 : FD_CLOEXEC);
}

/** The name in process listings. A program that was started through /dev/fd would be listed as a number. */
export function nameProcess(name: string): void {
  libc().prctl(PR_SET_NAME, ptr(cString(name)), null, null, null);
}
