import { expect, test } from "bun:test";
import { internList } from "../../../src/util/intern.ts";

test("lists of the same words are one list, and others are not", () => {
  const list = internList(["A", "B"]);
  expect(internList(["A", "B"])).toBe(list);
  expect(list).toEqual(["A", "B"]);
  for (const other of [[], [""], ["A"], ["B", "A"], ["A B"], ["A", "B", ""]])
    expect(internList(other)).toEqual(other);
});

test("one that is too long to be anybody else's is its holder's alone", () => {
  const long = ["A".repeat(20_000), "B"];
  expect(internList(long)).toEqual(long);
  expect(internList(long)).not.toBe(internList(long));
});
