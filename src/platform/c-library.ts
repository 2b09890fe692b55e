// Opens the system's C library. Only files of src/platform use it.
import { dlopen, type FFIFunction } from "bun:ffi";
import { existsSync } from "node:fs";

const muslArch = process.arch === "arm64" ? "aarch64" : "x86_64";
/** Absolute paths: the loader would look for a bare name in the working directory as well. */
const muslPath = `/lib/libc.musl-${muslArch}.so.1`;
const libraryNames =
  process.platform === "linux"
    ? ["libc.so.6", ...(existsSync(muslPath) ? [muslPath] : [])]
    : ["/usr/lib/libSystem.B.dylib"];

/** The C library with these functions. */
export function openLibrary<T extends Record<string, FFIFunction>>(symbols: T) {
  const failures: string[] = [];
  for (const name of libraryNames) {
    try {
      return dlopen(name, symbols).symbols;
    } catch (error) {
      failures.push((error as Error).message);
    }
  }
  throw new Error(`the C library could not be opened: ${failures.join("; ")}`);
}

/** The same, opened by the first call: binding a function takes time at start, and some exist on one system only. */
export function openOnDemand<T extends Record<string, FFIFunction>>(symbols: T) {
  let opened: ReturnType<typeof openLibrary<T>> | undefined;
  return () => {
    opened ??= openLibrary(symbols);
    return opened;
  };
}

/** A NUL-terminated string for a C function. */
export const cString = (text: string): Buffer => Buffer.from(`${text}\0`);
