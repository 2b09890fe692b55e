// What can be handed to another program on Linux: descriptors that stay open, and a file in memory.
import { FFIType, ptr } from "bun:ffi";
import { openLibrary } from "../c-library.ts";

const { i32, u32, pointer } = FFIType;

const open = () =>
  openLibrary({
    memfd_create: { args: [pointer, u32], returns: i32 },
    fcntl: { args: [i32, i32, i32], returns: i32 },
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

/** As it is listed: a program that is started by its descriptor has a number for a name. */
export function nameProcess(name: string): void {
  libc().prctl(PR_SET_NAME, ptr(text(name)), null, null, null);
}
