import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { leaving } from "./leavings.ts";

/** A directory of one's own, removed with everything in it. */
export function tempDir(): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "trl-bench-"));
  const remove = () => rmSync(path, { recursive: true, force: true });
  const isGone = leaving(remove);
  return {
    path,
    [Symbol.dispose]() {
      remove();
      isGone();
    },
  };
}
