// `test` and `describe` for a machine that may lack something. What it lacks is skipped by name, with the need in the
// name; scripts/test/run.ts counts these. With TRL_TEST_STRICT=1 it fails instead.
import * as bun from "bun:test";
import { mustBeMet, problemOf, type RequirementName } from "./requirements.ts";

type Runner = Pick<typeof bun, "test" | "describe" | "beforeAll" | "afterAll" | "beforeEach" | "afterEach">;

/**
 * Declare at the top of a file what all of it needs, `const { beforeAll, describe, test } = needs("sshd")`, or for one
 * test, `needs("zsh").test("...", ...)`. Hooks of what is skipped do not run.
 */
export function needs(...names: RequirementName[]): Runner {
  const missing = names.filter((name) => problemOf(name) !== undefined);
  if (missing.length === 0) return bun;
  return missing.every(mustBeMet) ? failing(missing) : skipping(missing);
}

/** The stateful shells that the tests go through; bash and /bin/sh are taken for granted. */
export const needsShell = (shell: string, ...others: RequirementName[]): Runner =>
  shell === "zsh" || shell === "dash" ? needs(shell, ...others) : needs(...others);

/** What follows the name of a skipped test; scripts/test/report.ts reads it from there. */
const suffix = (missing: RequirementName[]) => ` (needs ${missing.join(", ")})`;

function skipping(missing: RequirementName[]): Runner {
  const note = suffix(missing);
  const nothing = () => {};
  return runner(
    (name) => bun.test.skip(`${name}${note}`, nothing),
    (table) => (name) => bun.test.skip.each(table)(`${name}${note}`, nothing),
    (name, body) => bun.describe.skip(`${name}${note}`, body),
    (table) => (name, body) => bun.describe.skip.each(table)(`${name}${note}`, body as () => void),
  );
}

function failing(missing: RequirementName[]): Runner {
  const fail = () => {
    const reasons = missing.map((name) => `${name}: ${problemOf(name)?.reason}`);
    throw new Error(`TRL_TEST_STRICT=1, and this machine lacks ${reasons.join("; ")}`);
  };
  const note = suffix(missing);
  const one = (name: string) => bun.test(`${name}${note}`, fail);
  return runner(
    one,
    (table) => (name) => bun.test.each(table)(`${name}${note}`, fail),
    (name) => bun.describe(name, () => one("all of it")),
    () => (name) => bun.describe(name, () => one("all of it")),
  );
}

type Table = readonly unknown[];
type Body = (...row: never[]) => unknown;

function runner(
  test: (name: string) => unknown,
  testEach: (table: Table) => (name: string) => unknown,
  describe: (name: string, body: () => void) => unknown,
  describeEach: (table: Table) => (name: string, body: Body) => unknown,
): Runner {
  const noHook = () => {};
  return {
    test: Object.assign(test, { each: testEach, concurrent: Object.assign(test, { each: testEach }) }),
    describe: Object.assign(describe, { each: describeEach }),
    beforeAll: noHook,
    afterAll: noHook,
    beforeEach: noHook,
    afterEach: noHook,
  } as unknown as Runner;
}
