import { describe, expect, test } from "bun:test";
import { inheritedEnv, isShellName, overlayEnv } from "../../../../src/core/exec/environment.ts";
import { inheritEnvModes } from "../../../../src/protocol/session.ts";

const harmless = {
  PATH: "/bin",
  HOME: "/root",
  LANG: "C.UTF-8",
  PWD: "/tmp",
  TERM: "xterm",
  EDITOR: "vi",
  KEYBOARD: "de",
  MONKEY: "1",
  COMPASS: "north",
  AUTHOR: "me",
  GITHUB_ACTIONS: "true",
};
const credentials = {
  API_KEY: "x",
  OPENAI_API_KEY: "x",
  openai_api_key: "x",
  APIKEY: "x",
  AWS_ACCESS_KEY_ID: "x",
  AWS_SECRET_ACCESS_KEY: "x",
  AWS_SESSION_TOKEN: "x",
  GITHUB_TOKEN: "x",
  NPM_TOKEN: "x",
  DB_PASSWORD: "x",
  PGPASSWORD: "x",
  MYSQL_PWD: "x",
  CLIENT_SECRET: "x",
  SSH_AUTH_SOCK: "x",
  DATABASE_URL: "x",
  REDIS_URI: "x",
  SENTRY_DSN: "x",
  GOOGLE_APPLICATION_CREDENTIALS: "x",
};
const own = { TRL_AUTH_TOKEN: "x", TRL_SOCKET_PATH: "/x", TRL_: "x" };
/** Credentials by the name of their program, which the pattern does not know yet. */
const overlooked = ["PGPASSWORD", "MYSQL_PWD"];

describe("a session inherits", () => {
  test("all", () => {
    expect(inheritedEnv({ ...harmless, ...credentials }, "all")).toEqual({ ...harmless, ...credentials });
  });

  test("nothing", () => {
    expect(inheritedEnv({ ...harmless, ...credentials }, "none")).toEqual({});
  });

  test("what is harmless, with `safe`", () => {
    const kept = inheritedEnv({ ...harmless, ...credentials }, "safe");
    for (const name of overlooked) delete kept[name];
    expect(kept).toEqual(harmless);
  });

  test("no password by whatever name its program knows it, with `safe`", () => {
    const kept = inheritedEnv(credentials, "safe");
    expect(overlooked.filter((name) => name in kept)).toEqual([]);
  });

  for (const mode of inheritEnvModes) {
    test(`none of the daemon's own settings, with \`${mode}\``, () => {
      const names = Object.keys(inheritedEnv({ ...harmless, ...own }, mode));
      expect(names.filter((name) => name.startsWith("TRL_"))).toEqual([]);
    });
  }

  test("a name that only resembles the daemon's own", () => {
    const env = { TRLX: "1", MY_TRL_X: "2", trl_x: "3" };
    expect(inheritedEnv(env, "all")).toEqual(env);
  });
});

describe("overrides", () => {
  test("replace, add and, with null, unset", () => {
    const base = { A: "1", B: "2", C: "3" };
    expect(overlayEnv(base, { A: "x", B: null, D: "", E: null })).toEqual({ A: "x", C: "3", D: "" });
    expect(base).toEqual({ A: "1", B: "2", C: "3" });
  });
});

test("a shell's name is an identifier", () => {
  for (const name of ["A", "_", "a1_B"]) expect(isShellName(name)).toBeTrue();
  for (const name of ["", "1A", "A-B", "A B", "É", "A\n", "npm_config_//x"])
    expect(isShellName(name)).toBeFalse();
});
