// Replaces the program of this process (execv), which keeps its pid and its children.
import { FFIType, ptr } from "bun:ffi";
import { cString, openOnDemand } from "./c-library.ts";

const { i32, pointer } = FFIType;
const libc = openOnDemand({
  execv: { args: [pointer, pointer], returns: i32 },
  setenv: { args: [pointer, pointer, i32], returns: i32 },
  unsetenv: { args: [pointer], returns: i32 },
});

export interface ExecRequest {
  path: string;
  argv: string[];
  /** Added to the current environment. */
  env: Record<string, string>;
}

/** Returns only if it failed; the environment is as before then. */
export function execProgram({ path, argv, env }: ExecRequest): void {
  const { setenv, unsetenv, execv } = libc();
  for (const [name, value] of Object.entries(env)) setenv(ptr(cString(name)), ptr(cString(value)), 1);
  const words = argv.map(cString);
  const pointers = new BigUint64Array(words.length + 1);
  for (const [index, word] of words.entries()) pointers[index] = BigInt(ptr(word));
  execv(ptr(cString(path)), ptr(pointers));
  for (const name of Object.keys(env)) unsetenv(ptr(cString(name)));
}

/** Removes it from the C library's environment, which children that Bun does not start itself inherit. */
export function unsetVariable(name: string): void {
  libc().unsetenv(ptr(cString(name)));
}
