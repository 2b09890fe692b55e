// Private /tmp directories of sandboxes. They are on disk, not in memory like the run directory: they may get large.
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { makeOwnDir, removeAbandonedDirs } from "../../platform/abandoned-dirs.ts";

export class PrivateTmpDirs {
  #hasRemovedAbandoned = false;

  /** The first call also removes the directories of daemons that have ended. */
  make(): string {
    if (!this.#hasRemovedAbandoned) removeAbandonedDirs(tmpdir());
    this.#hasRemovedAbandoned = true;
    // Open to all users inside, like every /tmp. Outside, the private parent directory keeps other users out.
    const path = join(makeOwnDir(tmpdir()), "tmp");
    mkdirSync(path);
    chmodSync(path, 0o1777);
    return path;
  }
}

/** False if a file in it cannot be removed. */
export function removePrivateTmp(path: string): boolean {
  try {
    rmSync(dirname(path), { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}
