// The user's runtime directory, which does not survive a boot, and private directories in general.

import { chmodSync, lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { withPrivateUmask } from "./private-files.ts";

/** Directories with discovery files of daemons: a daemon writes to the first, and clients read all of them. */
export function discoveryDirs(env: Record<string, string | undefined>): string[] {
  const { TRL_RUNTIME_DIR, XDG_RUNTIME_DIR } = env;
  const usual = [
    ...(XDG_RUNTIME_DIR?.startsWith("/") ? [join(XDG_RUNTIME_DIR, "trl")] : []),
    `/tmp/trl-${process.getuid?.()}`,
  ];
  return (TRL_RUNTIME_DIR ? [TRL_RUNTIME_DIR] : usual).map((dir) => join(dir, "daemons"));
}

/** Whether it is a directory of this user, and not a link to one. */
export function isOwnDir(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === process.getuid?.();
}

/** Creates the directory. Throws if it belongs to another user: in /tmp any user can take a name first. */
export function makeOwnDir(path: string): void {
  try {
    withPrivateUmask(() => mkdirSync(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    if (!isOwnDir(path)) throw new Error(`${path} is not a directory of this user`);
  }
  const { mode } = lstatSync(path);
  if ((mode & writableByOthers) !== 0) chmodSync(path, 0o700);
}

const writableByOthers = 0o022;
