// The user's own directory for what runs: gone with the machine's next start, and nobody else's business.
import { chmodSync, lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { forOwnerAlone } from "./private-files.ts";

/** Where daemons may have announced themselves: the first is where one does, the others where some had to. */
export function announcementsDirs(env: Record<string, string | undefined>): string[] {
  const { TRL_RUNTIME_DIR, XDG_RUNTIME_DIR } = env;
  const usual = [
    ...(XDG_RUNTIME_DIR?.startsWith("/") ? [join(XDG_RUNTIME_DIR, "trl")] : []),
    `/tmp/trl-${process.getuid?.()}`,
  ];
  return (TRL_RUNTIME_DIR ? [TRL_RUNTIME_DIR] : usual).map((dir) => join(dir, "daemons"));
}

/** Whether it is a directory of ours, and not a link to one. */
export function isOwnDir(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === process.getuid?.();
}

/** Throws where it is somebody else's: /tmp is everybody's, and a name in it can be taken by anyone. */
export function makeOwnDir(path: string): void {
  try {
    forOwnerAlone(() => mkdirSync(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    if (!isOwnDir(path)) throw new Error(`${path} is not a directory of this user`);
  }
  const { mode } = lstatSync(path);
  if ((mode & writableByOthers) !== 0) chmodSync(path, 0o700);
}

const writableByOthers = 0o022;
