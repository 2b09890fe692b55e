// The daemon parses the text of every command before it runs it, which blocks its event loop. For these texts a pattern
// that backtracks takes seconds to years. The bound is generous: one pass takes a few milliseconds.
import { describe, expect, test } from "bun:test";
import { bash } from "../../../../../src/core/command/shell/bash/bash.ts";
import { posix } from "../../../../../src/core/command/shell/posix/posix.ts";
import { zsh } from "../../../../../src/core/command/shell/zsh/zsh.ts";
import { programWords } from "../../../../../src/fast/direct-exec/program-words.ts";
import { inPlaceKind } from "../../../../../src/fast/in-place/in-place-kind.ts";
import { reportPlan } from "../../../../../src/fast/short-reports/report-plan.ts";
import { emptyState, feedOf } from "./feed.ts";

const feed = (command: string, script: string) => feedOf(command, { state: { ...emptyState, script } });

/** All analyses of a command before it runs. */
function analyse(command: string, script = ""): void {
  for (const dialect of [bash, zsh, posix]) {
    const given = feed(command, script);
    dialect.commandScript(given, "/tmp/trl", reportPlan(given));
    inPlaceKind(given);
    programWords(given);
  }
}

const length = 100_000;
const fill = (text: string): string => text.repeat(Math.ceil(length / text.length));
const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `program_${i}`);

let serial = 0;
const commands: Record<string, string> = {
  "a word of test that goes on in a variable": "[ -d /home/agent/projects/my-application/node_modules/$dir ]",
  "a long word of test": `[ -d ${fill("a")}$x ]`,
  "a word of many quotes": `test ${fill("'a'\"b\"")}$x`,
  "an unclosed quote": `test '${fill("a")}`,
  digits: `printf ${fill("1")} x`,
  "blanks ahead of the words of a loop": `for a in${fill(" ")} x`,
  "lines ahead of a loop": `${fill("\n")}x`,
  "lines in the words of a loop": `for a in x${fill("\n")}x; done`,
  "many words do": `for a in ${fill("; do ")}`,
  "many words done": `for a in x; do echo${fill("; done ")}x`,
  "many words do and done": `for a in x${fill("; do x; done ;\n")}|`,
  "blanks at the end of a loop": `for a in x; do echo; done${fill(" ;\n")}x`,
  "blanks behind a loop": `for a in x; do echo; done${" ".repeat(16_000)}x`,
  "a substitution of indices": `echo $(${"a[".repeat(8000)})`,
  "many traps": fill("trap "),
  "a here-document of traps": `cat <<'E'\n${fill("a trap of a kind\n")}E\n`,
  "many aliases": fill("(alias "),
  "many aliases and braces": fill("alias {"),
  "many declarations": fill("declare -p"),
  "many parentheses": fill("( "),
  "many functions": fill("builtin ("),
  "many substitutions": `echo "${fill("$(a 'b' $c)")}`,
  "many openings of substitutions": `echo ${fill("$(a")}`,
  "a substitution without an end": `echo $(${fill("a $b 'c' ")}`,
  "many assignments": fill("x=$(a) "),
  "many assigned names": fill("x=1;").replaceAll("x", () => `x${serial++}`),
  "many separators": `ls${fill(" ; ls")} $(ls)`,
};

describe("is parsed in one pass:", () => {
  for (const [name, command] of Object.entries(commands)) test(name, () => analyse(command), 1000);

  const long = fill("x=1\n").repeat(10);
  test("many names beside a long state", () => analyse(names(5000).join("\n"), long), 1000);
  test("many names that a long state mentions", () => {
    analyse(names(5000).join("\n"), names(50_000).join("\n"));
    analyse(names(100).join("\n"), names(50_000).join("\n"));
  }, 1000);
  test("a state of attributes", () => analyse("echo a", `declare -${fill("r")}`), 1000);
  test("a state of traps", () => analyse("x=1", fill("trap ")), 1000);
});

test("a name that the state defines is found among many", () => {
  const report = (script: string) => reportPlan(feed(names(100).join("\n"), script)).report;
  expect(report("program_7\n")).toBe("none");
  expect(report("alias program_7='cd /'\n")).toBe("whole");
});
