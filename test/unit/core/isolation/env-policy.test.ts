// Which variables of the daemon's environment a session inherits.
import { describe, expect, test } from "bun:test";
import {
  inheritedEnv,
  matches,
  mergePolicy,
  nonInteractive,
  nonInteractiveDefaults,
} from "../../../../src/core/isolation/env-policy.ts";
import type { EnvPolicy } from "../../../../src/core/options.ts";
import { inheritEnvModes } from "../../../../src/protocol/session.ts";

const policy = (mode: EnvPolicy["mode"], more: Partial<EnvPolicy> = {}): EnvPolicy => ({
  mode,
  include: [],
  exclude: [],
  ...more,
});
const env = { PATH: "/bin", LC_ALL: "C", GITHUB_TOKEN: "x", AWS_REGION: "eu", AWS_SECRET_ACCESS_KEY: "x" };
const own = { TRL_AUTH_TOKEN: "x", TRL_SOCKET_PATH: "/x", TRL_: "x" };

describe("a session inherits", () => {
  test("all", () => expect(inheritedEnv(env, policy("all"))).toEqual(env));
  test("nothing", () => expect(inheritedEnv(env, policy("none"))).toEqual({}));

  test("variables that do not look like credentials", () => {
    expect(inheritedEnv(env, policy("safe"))).toEqual({ PATH: "/bin", LC_ALL: "C", AWS_REGION: "eu" });
  });

  test("included variables, in every mode", () => {
    const include = ["GITHUB_*", "PATH"];
    expect(Object.keys(inheritedEnv(env, policy("none", { include })))).toEqual(["PATH", "GITHUB_TOKEN"]);
    expect(inheritedEnv(env, policy("safe", { include }))["GITHUB_TOKEN"]).toBe("x");
  });

  test("no excluded variables, even if they are included, too", () => {
    const both = { include: ["*"], exclude: ["AWS_*", "P?TH"] };
    for (const mode of inheritEnvModes)
      expect(Object.keys(inheritedEnv(env, policy(mode, both)))).toEqual(["LC_ALL", "GITHUB_TOKEN"]);
  });

  for (const mode of inheritEnvModes) {
    test(`none of the daemon's own settings, with \`${mode}\` and all names included`, () => {
      const kept = inheritedEnv(
        { ...env, ...own },
        policy(mode, { include: ["*", "TRL_*", "TRL_AUTH_TOKEN"] }),
      );
      expect(Object.keys(kept).filter((name) => name.startsWith("TRL_"))).toEqual([]);
      expect(Object.keys(kept)).not.toBeEmpty();
    });
  }

  test("a name that only resembles the daemon's own", () => {
    const similar = { TRLX: "1", MY_TRL_X: "2", trl_x: "3" };
    expect(inheritedEnv(similar, policy("all"))).toEqual(similar);
  });
});

describe("the daemon's policy and the session's", () => {
  const daemon = policy("safe", { include: ["TZ"], exclude: ["AWS_*"] });

  test("are merged: the session chooses the mode and adds patterns", () => {
    const asked = { inherit_env: "all" as const, env_include: ["A"], env_exclude: ["B"] };
    expect(mergePolicy(daemon, asked)).toEqual({
      mode: "all",
      include: ["TZ", "A"],
      exclude: ["AWS_*", "B"],
    });
    expect(mergePolicy(daemon, {})).toEqual(daemon);
  });

  test("cannot be used to undo an exclusion of the daemon's", () => {
    const merged = mergePolicy(daemon, { inherit_env: "all", env_include: ["AWS_*"] });
    expect(Object.keys(inheritedEnv(env, merged)).filter((name) => name.startsWith("AWS"))).toEqual([]);
  });
});

describe("without a terminal", () => {
  test("pagers and prompts are disabled", () => {
    for (const mode of ["all", "safe"] as const)
      expect(nonInteractiveDefaults(policy(mode))).toEqual(nonInteractive);
    expect(nonInteractive).toMatchObject({ PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0" });
  });

  test("the mode `none` adds no defaults", () => {
    expect(nonInteractiveDefaults(policy("none"))).toEqual({});
  });

  test("excluded names are no defaults either", () => {
    expect(Object.keys(nonInteractiveDefaults(policy("all", { exclude: ["*PAGER", "GCM_*"] })))).toEqual([
      "GIT_TERMINAL_PROMPT",
      "DEBIAN_FRONTEND",
    ]);
  });
});

describe("a pattern", () => {
  const cases: [pattern: string, name: string, isMatch: boolean][] = [
    ["*", "ANY", true],
    ["*", "", true],
    ["", "", true],
    ["", "A", false],
    ["A", "A", true],
    ["A", "a", false],
    ["LC_*", "LC_ALL", true],
    ["LC_*", "LC_", true],
    ["LC_*", "XLC_ALL", false],
    ["*_KEY", "A_KEY_KEY", true],
    ["A?C", "ABC", true],
    ["A?C", "AC", false],
    ["A.C", "ABC", false],
    ["[A]", "A", false],
    ["[A]", "[A]", true],
    ["A**B", "AB", true],
    ["*a*b*", "xxaxxbxx", true],
    ["a*", "A\nB", false],
    ["A*", "A\nB", true],
  ];
  for (const [pattern, name, isMatch] of cases)
    test(`${JSON.stringify(pattern)} ${isMatch ? "is" : "is not"} ${JSON.stringify(name)}`, () =>
      expect(matches(pattern, name)).toBe(isMatch));

  test("with many stars takes no longer than one with few", () => {
    expect(matches("*a".repeat(40), `${"a".repeat(2000)}b`)).toBeFalse();
  });
});
