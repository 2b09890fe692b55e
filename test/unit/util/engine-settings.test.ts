import { expect, test } from "bun:test";
import { compileLater, hasThreads, isOwnSetting, withoutThreads } from "../../../src/util/engine-settings.ts";

const settings = { ...compileLater, ...withoutThreads };

test("settings that trl makes are the daemon's own", () => {
  const env = { PATH: "/bin", TRL_SHELL: "bash", ...settings };
  const own = Object.keys(env).filter((name) => isOwnSetting(name, env));
  expect(own).toEqual(["TRL_SHELL", ...Object.keys(settings)]);
});

test("another value of such a variable is the user's, and is passed on", () => {
  for (const name of Object.keys(settings)) expect(isOwnSetting(name, { [name]: "5" })).toBe(false);
  expect(isOwnSetting("constructor", {})).toBe(false);
});

test("the engine has no threads where all settings against them are made", () => {
  expect(hasThreads({})).toBe(true);
  expect(hasThreads({ BUN_JSC_useConcurrentJIT: "0" })).toBe(true);
  expect(hasThreads(withoutThreads)).toBe(false);
});
