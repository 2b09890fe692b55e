import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory of one's own, removed with everything in it. */
export function tempDir(): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "trl-bench-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
