// Picks the dialect by the name of the shell. Other shells run without state, one `shell -c` per command.
import { basename } from "node:path";
import { bash } from "./bash/bash.ts";
import type { ShellDialect } from "./dialect.ts";
import { posix } from "./posix/posix.ts";
import { zsh } from "./zsh/zsh.ts";

export function dialectOf(shell: string): ShellDialect | undefined {
  const name = basename(shell);
  if (/^bash(-?\d[\d.]*)?$/.test(name)) return bash;
  if (/^zsh(-?\d[\d.]*)?$/.test(name)) return zsh;
  if (name === "sh" || name === "dash" || name === "ash") return posix;
  return undefined;
}
