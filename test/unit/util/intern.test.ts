import { expect, test } from "bun:test";
import { internList } from "../../../src/util/intern.ts";

test("equal lists become one list, and others do not", () => {
  const list = internList(["A", "B"]);
  expect(internList(["A", "B"])).toBe(list);
  expect(list).toEqual(["A", "B"]);
  for (const other of [[], [""], ["A"], ["B", "A"], ["A B"], ["A", "B", ""]])
    expect(internList(other)).toEqual(other);
});

test("a list over the maximum length is not shared", () => {
  const long = ["A".repeat(20_000), "B"];
  expect(internList(long)).toEqual(long);
  expect(internList(long)).not.toBe(internList(long));
});
