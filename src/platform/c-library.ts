// The system's C library, whichever it is.
import { dlopen, type FFIFunction } from "bun:ffi";
import { existsSync } from "node:fs";

const muslArch = process.arch === "arm64" ? "aarch64" : "x86_64";
/** By its whole path: a name that is not found would be looked for in the directory that we were started in. */
const muslPath = `/lib/libc.musl-${muslArch}.so.1`;
const libraryNames =
  process.platform === "linux"
    ? ["libc.so.6", ...(existsSync(muslPath) ? [muslPath] : [])]
    : ["libSystem.B.dylib"];

/** The system's C library, with these of its functions. */
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
