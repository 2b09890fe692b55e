import { expect, test } from "bun:test";
import { reportFields } from "../../../../../src/core/command/shell/script-parts.ts";

const whole = ["first", "second", "whole"];

test("text before the first field is skipped", () => {
  expect(reportFields(`trap -- : SIGUSR1\n\0${whole.join("\0")}`, 2)).toEqual(whole);
  expect(reportFields(`\0${whole.join("\0")}`, 2)).toEqual(whole);
});

test("a report from a shell that an earlier version started is accepted", () => {
  expect(reportFields("first\0second\0end", 2)).toEqual(["first", "second", "end"]);
  expect(reportFields("\0first\0second\0end", 2)).toBeUndefined();
});

test("an incomplete report, or one mixed with another, is rejected", () => {
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
