// Where functions of bash are put, so that their lines count as before.
import { expect, test } from "bun:test";
import { defineAtLines } from "../../../../../src/core/exec/shell/bash-functions.ts";

const listed = (name: string, body = ":") => `${name} () \n{ \n    ${body}\n}\n`;
const end = "builtin unset -f __trl_define\n";

test("functions of one file are in one text, each at its line", () => {
  const text = defineAtLines(listed("a") + listed("b"), "a 9 lib.sh\nb 2 lib.sh\n");
  expect(text).toBe(`__trl_define '\nb () { \n    :\n}\n\n\n\n\na () { \n    :\n}\n'\n${end}`);
});

test("functions that were defined at the same lines are in texts of their own", () => {
  const text = defineAtLines(listed("a") + listed("b"), "a 1 one\nb 1 two\n");
  expect(text).toBe(`__trl_define 'a () { \n    :\n}\n'\n__trl_define 'b () { \n    :\n}\n'\n${end}`);
});

test("a line that only looks like the beginning of a function parts nothing", () => {
  const document = listed("a", "cat <<E\nb () \n{ \nE\n");
  const text = defineAtLines(document + listed("b"), "a 1 one\nb 1 two\n");
  expect(text).toBe(`__trl_define '${(document + listed("b")).replace("() \n{", "() {")}'\n${end}`);
});

test("without lines, and far down in a file, they count from the first", () => {
  expect(defineAtLines(listed("a"), "")).toBe(`__trl_define '${listed("a")}'\n${end}`);
  expect(defineAtLines(listed("a"), "a 99999999 big\n")).toBe(`__trl_define 'a () { \n    :\n}\n'\n${end}`);
});
