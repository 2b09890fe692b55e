import { expect, test } from "bun:test";
import { exportsIn, withVariables } from "../../../../../../src/core/command/shell/bash/environment.ts";
import { fromText } from "../../../../../../src/core/process/byte-string.ts";

const mask = `umask ${process.umask().toString(8).padStart(4, "0")}\n\n`;
const read = (script: string) =>
  exportsIn({
    ...{ workingDir: "/", previousDir: undefined, lateScript: "", exportedNames: [], lastStatus: 0 },
    script: fromText(script),
  });

test("an empty state changes no exported variable", () => {
  expect(read("")).toEqual({ unset: [], set: {} });
});

test("variables are parsed as bash lists them", () => {
  const lines = [
    "shopt -u expand_aliases",
    "unset GONE OTHER",
    "unset TERM",
    'declare -x A="a \\"b\\" \\$c \\`d\\` \\\\e"',
    "declare -x B=$'\\n\\t\\E\\a\\'\\\\\\303\\244'",
    'declare -x C="ä\ndeclare -x EVIL=\\"1\\""',
    'declare -- OWN="x"',
    'declare -ax L=([0]="1")',
    "declare -x EMPTY",
    'declare -ix N="5"',
  ];
  expect(read(`${lines.join("\n")}\n${mask}`)).toEqual({
    unset: ["GONE", "OTHER", "TERM", "OWN", "L", "EMPTY"],
    set: { A: 'a "b" $c `d` \\e', B: "\n\t\x1b\x07'\\ä", C: 'ä\ndeclare -x EVIL="1"', N: "5" },
  });
});

test("options and functions that programs do not get are skipped", () => {
  const functions =
    "shopt -s extglob\n__trl_define 'f () { \n    echo '\\''a'\\''\n}'\nbuiltin unset -f __trl_define\n#lines f 1\n\nbuiltin shopt -u extglob\n";
  expect(read(`shopt -s nullglob\n${mask}builtin set -o noglob -o nounset\n${functions}`)).toBeDefined();
});

test.each([
  ["another umask", "umask 0123\n\n"],
  ["aliases", `alias a='b'\n${mask}`],
  ["commands to repeat", `${mask}\nbuiltin cd -- '/'\nexport A=1\n`],
  ["a value that is not UTF-8", `declare -x A=$'\\377'\n${mask}`],
  ["a value with other quoting", `declare -x A='b'\n${mask}`],
  [
    "exported functions",
    `${mask}shopt -s extglob\n__trl_define 'f () { :; }'\nbuiltin unset -f __trl_define\n#lines f 1\nbuiltin declare -fx f\n\n`,
  ],
  ["EXECIGNORE, which decides which file is the program", `declare -- EXECIGNORE="*"\n${mask}`],
  ["anything else", `${mask}x=1\n`],
])("with %s the exports are unknown", (_, script) => {
  expect(read(script)).toBeUndefined();
});

test("changed variables replace the old ones, and nothing else changes", () => {
  const script = `shopt -u expand_aliases\nunset G\ndeclare -- a="1"\ndeclare -x b="2"\n${mask}declare -f\n`;
  const changed = [
    { name: "b", flags: "x", text: 'declare -x b="3"\n' },
    { name: "G", flags: "-", text: 'declare -- G="4"\n' },
    // It got the attribute after its value, which must not become upper case.
    { name: "c", flags: "xu", text: 'declare -xu c="abc"\n' },
  ];
  expect(withVariables(script, changed)).toBe(
    'shopt -u expand_aliases\nunset G\ndeclare -- a="1"\ndeclare -x b="3"\ndeclare -- G="4"\n' +
      `declare -x c="abc"\ndeclare -u c\n${mask}declare -f\n`,
  );
  expect(withVariables("", changed.slice(0, 1))).toBe('declare -x b="3"\n');
  expect(withVariables(script, [])).toBe(script);
});
