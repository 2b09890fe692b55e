// Loaded before all tests: daemons of the tests that have no directory of their own announce themselves in one that is
// gone afterwards, and not among those of the person who runs the tests.
import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const path = mkdtempSync(join(tmpdir(), "trl-test-"));
process.env["TRL_RUNTIME_DIR"] = path;
// Not when the process exits: a worker of `bun test --parallel` does not tell.
afterAll(() => rmSync(path, { recursive: true, force: true }));
