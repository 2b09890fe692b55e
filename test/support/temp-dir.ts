import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory of one's own, removed with everything in it. */
export function tempDir(parent = tmpdir()): { path: string } & Disposable {
  const path = mkdtempSync(join(parent, "trl-test-"));
  noteOwner(path);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

const notes = (runDir: string) => join(runDir, "temp-dirs");

/** So that what a test leaves behind can be traced to it. */
function noteOwner(path: string): void {
  const runDir = process.env["TRL_TEST_RUN_DIR"];
  const [caller] = /\S+\.test\.ts\S*:\d+:\d+/.exec(new Error().stack ?? "") ?? [];
  if (runDir) appendFileSync(notes(runDir), `${path} ${caller ?? "unknown"}\n`);
}

/** Where the directories of a run were made, by their paths. */
export function ownersIn(runDir: string): Map<string, string> {
  const lines = readFileSync(notes(runDir), { encoding: "utf8", flag: "a+" }).split("\n").filter(Boolean);
  return new Map(lines.map((line) => line.split(" ") as [string, string]));
}
