// A private directory for the files of shells, in memory where the system has such a place.
import { chmodSync } from "node:fs";
import { tmpdir } from "node:os";
import { makeOwnDir } from "../util/abandoned-dirs.ts";

export function makeRunDir(asked: string | undefined, env: Record<string, string>): string {
  const candidates = asked === undefined ? [env["XDG_RUNTIME_DIR"], "/dev/shm", tmpdir()] : [asked];
  for (const base of candidates) {
    if (!base?.startsWith("/")) continue;
    try {
      const dir = makeOwnDir(base);
      chmodSync(dir, 0o700);
      return dir;
    } catch {
      // not there or not ours: the next one
    }
  }
  throw new Error(`no place for temporary files (tried ${candidates.filter(Boolean).join(", ")})`);
}
