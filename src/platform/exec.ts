// How this process becomes another program, with its pid and its children.
import { FFIType, ptr } from "bun:ffi";
import { openLibrary } from "./c-library.ts";

const { i32, pointer } = FFIType;
const open = () =>
  openLibrary({
    execv: { args: [pointer, pointer], returns: i32 },
    setenv: { args: [pointer, pointer, i32], returns: i32 },
    unsetenv: { args: [pointer], returns: i32 },
  });

const text = (words: string) => Buffer.from(`${words}\0`);

export interface Successor {
  path: string;
  argv: string[];
  /** On top of the environment that there is. */
  env: Record<string, string>;
}

/** Comes back only where it failed. */
export function become({ path, argv, env }: Successor): void {
  const libc = open();
  for (const [name, value] of Object.entries(env)) libc.setenv(ptr(text(name)), ptr(text(value)), 1);
  const words = argv.map(text);
  const pointers = new BigUint64Array(words.length + 1);
  for (const [at, word] of words.entries()) pointers[at] = BigInt(ptr(word));
  libc.execv(ptr(text(path)), ptr(pointers));
  for (const name of Object.keys(env)) libc.unsetenv(ptr(text(name)));
}

/** In the C library's environment, from which whatever Bun does not start itself has its own. */
export function unsetVariable(name: string): void {
  open().unsetenv(ptr(text(name)));
}
