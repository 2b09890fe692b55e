// A file that lacks something is skipped by name, or fails where TRL_TEST_STRICT=1 asks for everything.
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { costs, readReport } from "../../../scripts/test/report.ts";
import { tempDir } from "../../support/temp-dir.ts";

const needs = join(import.meta.dir, "../../support/needs.ts");

/** The requirement is one that no machine of the test meets: nothing is found in an empty PATH. */
const file = `
import { expect, test as plain } from "bun:test";
import { needs } from ${JSON.stringify(needs)};
const { afterAll, beforeAll, describe, test } = needs("tcsh");
beforeAll(() => { throw new Error("a hook of what is skipped ran"); });
afterAll(() => { throw new Error("a hook of what is skipped ran"); });
test("alone", () => { throw new Error("ran"); });
test.each([1, 2])("of a table %d", () => { throw new Error("ran"); });
test.concurrent("beside others", () => { throw new Error("ran"); });
describe("a scope", () => {
  plain("inside", () => { throw new Error("ran"); });
});
needs("fish", "tcsh").test("of two", () => { throw new Error("ran"); });
needs().test("of nothing", () => expect(1).toBe(1));
`;

function run(env: Record<string, string> = {}) {
  using dir = tempDir();
  writeFileSync(join(dir.path, "a.test.ts"), file);
  const report = join(dir.path, "report.xml");
  const argv = [process.execPath, "test", "--reporter=junit", `--reporter-outfile=${report}`, "./a.test.ts"];
  const { exitCode, stderr } = Bun.spawnSync(argv, {
    cwd: dir.path,
    env: { PATH: dir.path, HOME: dir.path, ...env },
    stdin: "ignore",
  });
  return { exitCode, said: stderr.toString(), cases: readReport(readFileSync(report, "utf8")) };
}

test("what a machine lacks is skipped, with the requirement in its name", () => {
  const { exitCode, cases } = run();
  expect(cases.map(({ name, outcome }) => `${outcome} ${name}`).sort()).toEqual([
    "passed of nothing",
    "skipped a scope (needs tcsh) > inside",
    "skipped alone (needs tcsh)",
    "skipped beside others (needs tcsh)",
    "skipped of a table 1 (needs tcsh)",
    "skipped of a table 2 (needs tcsh)",
    "skipped of two (needs fish, tcsh)",
  ]);
  expect(costs(cases)).toEqual([
    ["tcsh", 6],
    ["fish", 1],
  ]);
  expect(exitCode).toBe(0);
});

test("with TRL_TEST_STRICT=1 each of them fails, and says what is missing", () => {
  const { exitCode, said, cases } = run({ TRL_TEST_STRICT: "1" });
  expect(cases.filter(({ outcome }) => outcome === "failed")).toHaveLength(6);
  expect(cases.filter(({ outcome }) => outcome === "passed").map(({ name }) => name)).toEqual(["of nothing"]);
  expect(said).toContain("this machine lacks fish: fish is not installed; tcsh: tcsh is not installed");
  expect(exitCode).toBe(1);
});
