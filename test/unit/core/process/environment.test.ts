import { describe, expect, test } from "bun:test";
import { isShellName, overlayEnv } from "../../../../src/core/process/environment.ts";

describe("overrides", () => {
  test("replace, add and, with null, unset", () => {
    const base = { A: "1", B: "2", C: "3" };
    expect(overlayEnv(base, { A: "x", B: null, D: "", E: null })).toEqual({ A: "x", C: "3", D: "" });
    expect(base).toEqual({ A: "1", B: "2", C: "3" });
  });
});

test("a name for a shell is an identifier", () => {
  for (const name of ["A", "_", "a1_B"]) expect(isShellName(name)).toBeTrue();
  for (const name of ["", "1A", "A-B", "A B", "É", "A\n", "npm_config_//x"])
    expect(isShellName(name)).toBeFalse();
});
