// Loaded before all tests: daemons of the tests that have no directory of their own announce themselves in one that is
// gone afterwards, and not among those of the person who runs the tests.
import { afterAll, setDefaultTimeout } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testMs } from "./wait.ts";

const path = mkdtempSync(join(tmpdir(), "trl-test-"));
process.env["TRL_RUNTIME_DIR"] = path;
// Programs that the tests start leave their files there, and do not read the settings of the user.
process.env["HOME"] = mkdtempSync(join(path, "home-"));
// Of the first file, and so of a file that is run alone; scripts/test/run-files.ts says it for all.
setDefaultTimeout(testMs);
// Not when the process exits: a worker of `bun test --parallel` does not tell.
afterAll(() => rmSync(path, { recursive: true, force: true }));
