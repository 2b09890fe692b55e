// Further shells to run the suites of exec with: TRL_TEST_SHELLS="bash=/path/bash-3.2 sh=/path/of-4.4/sh". Each stands for
// the shell of that name while test/integration/shells runs the suites again. What an old shell cannot do is listed here
// by the names of the tests, which must fail with it: the list is exact.
import * as bun from "bun:test";
import { needs } from "./needs.ts";
import type { RequirementName } from "./requirements.ts";

interface FurtherShell {
  /** The shell that it stands for. */
  name: string;
  path: string;
}

let current: FurtherShell | undefined;

/** The path of a shell, or its name, in this run. */
export const shellFor = (shell: string): string =>
  current && (shell === current.name || shell === `/bin/${current.name}`) ? current.path : shell;

export const furtherShells = (text = process.env["TRL_TEST_SHELLS"] ?? ""): FurtherShell[] =>
  text
    .split(" ")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const [name, path] = pair.split("=");
      if (!name || !path?.startsWith("/"))
        throw new Error(`TRL_TEST_SHELLS: expected name=/path, not ${pair}`);
      return { name, path };
    });

/** Runs test files of test/integration with each further shell. */
export function runWithFurtherShells(files: string[]): void {
  for (const shell of furtherShells())
    for (const file of files) {
      const key = `${shell.name}=${shell.path}`;
      bun.describe(`${file} with ${key}`, async () => {
        const use = () => {
          current = shell;
        };
        use(); // while the file declares its tests
        bun.beforeAll(use);
        await import(`../integration/${file}.test.ts?${encodeURIComponent(key)}`);
      });
    }
}

/** By what a language lacks: versions of bash without it. */
const lacking = {
  "associative arrays": /^3\./,
  "declare -l and -u": /^3\./,
  "references (declare -n)": /^(?:3\.|4\.[0-2]\.)/,
  "a list of variables that are exported without a value": /^(?:3\.|4\.[0-3]\.)/,
  "the handler on CHLD before the one on EXIT": /^(?:3|4)\./,
  "names of exported functions as those of bash 5": /^(?:3\.|4\.[0-2]\.)/,
  "lines of functions": /^3\./,
  "lists without trl's functions": /^3\./,
  "a warm shell of one process": /^3\./,
  // By the plain path a shell waits for the program: 128 + n, as in a script.
  "programs without a shell": /^(?:3\.|4\.[0-3]\.)/,
} as const;

/** `test` for what bash can do since some version; with an older one, the test must fail. */
export function testOf(
  feature: keyof typeof lacking,
  shell = "bash",
  ...required: RequirementName[]
): typeof bun.test {
  const isLacking =
    shell === "bash" && current?.name === shell && lacking[feature].test(versionOf(current.path));
  return (isLacking ? bun.test.failing : needs(...required).test) as typeof bun.test;
}

const versionOf = (path: string): string =>
  Bun.spawnSync([path, "-c", 'printf %s "$BASH_VERSION"']).stdout.toString();
