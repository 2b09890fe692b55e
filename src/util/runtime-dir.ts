// The user's own directory for what runs: gone with the machine's next start, and nobody else's business.
import { chmodSync, lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";

export function runtimeDir(env: Record<string, string | undefined>): string {
  const { TRL_RUNTIME_DIR, XDG_RUNTIME_DIR } = env;
  if (TRL_RUNTIME_DIR) return TRL_RUNTIME_DIR;
  return XDG_RUNTIME_DIR?.startsWith("/") ? join(XDG_RUNTIME_DIR, "trl") : `/tmp/trl-${process.getuid?.()}`;
}

/** Where daemons announce themselves. */
export const announcementsDir = (env: Record<string, string | undefined>): string =>
  join(runtimeDir(env), "daemons");

/** Whether it is a directory of ours, and not a link to one. */
export function isOwnDir(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === process.getuid?.();
}

/** Throws where it is somebody else's: /tmp is everybody's, and a name in it can be taken by anyone. */
export function makeOwnDir(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    if (!isOwnDir(path)) throw new Error(`${path} is not a directory of this user`);
  }
  const { mode } = lstatSync(path);
  if ((mode & writableByOthers) !== 0) chmodSync(path, 0o700);
}

const writableByOthers = 0o022;
