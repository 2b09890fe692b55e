import { describe, expect, test } from "bun:test";
import { SharedEnv } from "../../../../../src/core/command/runners/shared-env.ts";

const usual = { PATH: "/bin", HOME: "/root", LANG: "C", PAGER: "cat" };

describe("the variables of a session", () => {
  test("are what they were, whatever is usual", () => {
    const envs: Record<string, string>[] = [
      usual,
      {},
      { ...usual, TRL_SESSION_ID: "s_1" },
      { PATH: "/usr/bin", LANG: "C", PAGER: "cat" },
      { A: "1" },
      { ...usual, toString: "a name like any other", PAGER: "" },
    ];
    for (const env of envs) expect(new SharedEnv(env, usual).all()).toEqual(env);
  });

  test("are the caller's own: what is done to them changes nobody's", () => {
    const kept = new SharedEnv({ ...usual, A: "1" }, usual);
    const given = kept.all();
    given["PATH"] = "/tmp";
    delete given["A"];
    expect(kept.all()).toEqual({ ...usual, A: "1" });
    expect(usual.PATH).toBe("/bin");
  });

  test("come in the order in which they were given", () => {
    const env = { ...usual, Z: "1", A: "2" };
    expect(Object.keys(new SharedEnv(env, usual).all())).toEqual(Object.keys(env));
  });
});
