import { describe, expect, test } from "bun:test";
import { type AcceleratorName, acceleratorNames, parseFast } from "../../../src/fast/switches.ts";

const off = (text?: string): AcceleratorName[] => acceleratorNames.filter((name) => !parseFast(text)[name]);

describe("TRL_FAST", () => {
  test("is all where it is missing or empty", () => {
    for (const text of [undefined, "", "all"]) expect(off(text)).toEqual([]);
  });

  test("none switches everything off", () => expect(off("none")).toEqual([...acceleratorNames]));

  test("-name switches one off", () => {
    for (const name of acceleratorNames.filter((each) => each !== "warm-shells"))
      expect(off(`-${name}`)).toEqual([name]);
    expect(off("-simd, -quick-check")).toEqual(["quick-check", "simd"]);
  });

  test("in-place needs warm-shells", () => expect(off("-warm-shells")).toEqual(["warm-shells", "in-place"]));

  test("anything else is refused, with the names", () => {
    for (const text of ["simd", "-nonsense", "-simd,", "all,-simd", "none,-simd", "-", "ALL"]) {
      expect(() => parseFast(text)).toThrow(
        `TRL_FAST is all, none, or a list of -warm-shells, -in-place, -direct-exec, -short-reports, -quick-check, -simd, -direct-read, not "${text}"`,
      );
    }
  });
});
