import { expect, test } from "bun:test";
import { reportFields } from "../../../../../src/core/command/shell/script-parts.ts";

const whole = ["first", "second", "whole"];

test("what is ahead of the fields is left out", () => {
  expect(reportFields(`trap -- : SIGUSR1\n\0${whole.join("\0")}`, 2)).toEqual(whole);
  expect(reportFields(`\0${whole.join("\0")}`, 2)).toEqual(whole);
});

test("the report of a shell that an earlier version has started is taken as well", () => {
  expect(reportFields("first\0second\0end", 2)).toEqual(["first", "second", "end"]);
  expect(reportFields("\0first\0second\0end", 2)).toBeUndefined();
});

test("one that is not whole, or is mixed with another, is none", () => {
  const report = `\0${whole.join("\0")}`;
  for (const mixed of [
    "",
    "\0",
    report.slice(0, -1),
    `${report}${report}`,
    `ahead\0${report}`,
    "\0first\0whole",
  ])
    expect(reportFields(mixed, 2)).toBeUndefined();
});
