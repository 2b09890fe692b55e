// Functions are defined at their old lines, so that line numbers stay the same.
import { expect, test } from "bun:test";
import { defineAtLines } from "../../../../../../src/core/command/shell/bash/functions.ts";

const listed = (name: string, body = ":") => `${name} () \n{ \n    ${body}\n}\n`;
const end = (note: string) => `builtin unset -f __trl_define\n#lines${note}\n`;

test("functions of one file are in one text, each at its line", () => {
  const text = defineAtLines(listed("a") + listed("b"), "a 9 lib.sh\nb 2 lib.sh\n", "");
  expect(text).toBe(`__trl_define '\nb () { \n    :\n}\n\n\n\n\na () { \n    :\n}\n'\n${end(" a 9 b 2")}`);
});

test("functions that were defined at the same lines are in separate texts, up to a maximum", () => {
  const text = defineAtLines(listed("a") + listed("b"), "a 1 one\nb 1 two\n", "");
  expect(text).toBe(
    `__trl_define 'a () { \n    :\n}\n'\n__trl_define 'b () { \n    :\n}\n'\n${end(" a 1 b 1")}`,
  );
  const names = Array.from({ length: 300 }, (_, at) => `f${at}`);
  const many = defineAtLines(
    names.map((name) => listed(name)).join(""),
    names.map((name) => `${name} 1 x\n`).join(""),
    "",
  );
  expect(many.match(/^__trl_define /gm)!.length).toBeLessThan(50);
  for (const name of names) expect(many).toContain(`${name} () { \n`);
});

test("a line that only looks like a function header does not split the list", () => {
  const document = listed("a", "cat <<E\nb () \n{ \nE\n");
  const text = defineAtLines(document + listed("b"), "a 1 one\nb 1 two\n", "");
  expect(text).toBe(
    `__trl_define '${(document + listed("b")).replace("() \n{", "() {")}'\n${end(" a 1 b 1")}`,
  );
});

test("functions far down in a file, or without a known line, count from line 1", () => {
  expect(defineAtLines(listed("a"), "", "")).toBe(`__trl_define '${listed("a")}'\n${end("")}`);
  const far = defineAtLines(listed("a"), "a 99999999 big\n", "");
  expect(far).toBe(`__trl_define 'a () { \n    :\n}\n'\n${end(" a 99999999")}`);
});

test("lines that a report lacks come from the note in the previous script", () => {
  const before = defineAtLines(listed("a") + listed("b"), "a 9 lib.sh\nb 2 lib.sh\n", "");
  expect(defineAtLines(listed("a") + listed("b"), "", `x=1\n${before}\n`)).toBe(before);
});
