// Checks the shell programs of the tree: shellcheck reads those for sh and bash; zsh itself checks the syntax of those
// for zsh, which shellcheck cannot read. scripts/test/run.ts runs it where shellcheck is installed.
import { join } from "node:path";
import { mustBeMet, problemOf } from "../../test/support/requirements.ts";

const root = join(import.meta.dir, "../..");
const list = (...patterns: string[]): string[] =>
  patterns.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: root, dot: true })]).sort();

const folders = "{src,scripts,test,bench,examples}";

function passes(argv: string[]): boolean {
  return Bun.spawnSync(argv, { cwd: root, stdio: ["ignore", "inherit", "inherit"] }).success;
}

function checkZsh(files: string[]): boolean {
  const problem = problemOf("zsh");
  if (!problem) return files.map((file) => passes(["zsh", "-n", file])).every(Boolean);
  console.error(`${files.join(" ")}: not checked (${problem.reason}; npm run test:setup)`);
  return !mustBeMet("zsh");
}

const results = [
  passes(["shellcheck", ...list(".ci/*", `${folders}/**/*.{sh,bash}`)]),
  checkZsh(list(`${folders}/**/*.zsh`)),
];
process.exit(results.every(Boolean) ? 0 : 1);
