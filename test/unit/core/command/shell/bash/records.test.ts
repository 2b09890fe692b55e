import { expect, test } from "bun:test";
import { parseRecords } from "../../../../../../src/core/command/shell/bash/records.ts";

const values = [
  "",
  `="plain"`,
  `="a \\" b \\\\"`,
  `="two\nlines\ndeclare -- not=\\"one\\""`,
  `=$'it\\'s \\\\'`,
  `='("old" '\\''array'\\'')'`,
  `=([0]="a)" [1]=$'b\\')' ["k("]="\\"")`,
  "=()",
];

test("each record is one variable, whatever its value contains", () => {
  const texts = values.map((value, at) => `declare -x v${at}${value}\n`);
  const records = parseRecords(texts.join(""));
  expect(records.map(({ text }) => text)).toEqual(texts);
  expect(records.map(({ name }) => name)).toEqual(values.map((_, at) => `v${at}`));
});

test("text that is not a record is left out, and nothing else", () => {
  for (const text of [
    `declare -- a="x`,
    `declare -- a="x\\"\n`,
    "declare -- a=(\n",
    "declare -- a=x\n",
    "a=1\n",
    "touch here\n",
  ]) {
    expect(parseRecords(text)).toEqual([]);
    const records = parseRecords(`declare -- b="1"\n${text}\ndeclare -- c="2"\ndeclare -x d\n`);
    expect(records.map(({ name }) => name)).toEqual(["b", "c", "d"]);
  }
});

test("a value may have any number of escapes", () => {
  const large = `declare -- a="${'\\"'.repeat(1_000_000)}"\n`;
  const list = `declare -a b=(${Array.from({ length: 400_000 }, (_, i) => `[${i}]="${i}"`).join(" ")})\n`;
  expect(parseRecords(large + list).map(({ name }) => name)).toEqual(["a", "b"]);
});
