import { expect, test } from "bun:test";
import { compileLater, hasThreads, isOwnSetting, withoutThreads } from "../../../src/util/engine-settings.ts";

const settings = { ...compileLater, ...withoutThreads };

test("settings of trl are not passed on to commands", () => {
  const env = { PATH: "/bin", TRL_SHELL: "bash", ...settings };
  const own = Object.keys(env).filter((name) => isOwnSetting(name, env));
  expect(own).toEqual(["TRL_SHELL", ...Object.keys(settings)]);
});

test("another value of such a variable is a setting of the user, and is passed on", () => {
  for (const name of Object.keys(settings)) expect(isOwnSetting(name, { [name]: "5" })).toBe(false);
  expect(isOwnSetting("constructor", {})).toBe(false);
});

test("the engine has no threads if all settings against them are present", () => {
  expect(hasThreads({})).toBe(true);
  expect(hasThreads({ BUN_JSC_useConcurrentJIT: "0" })).toBe(true);
  expect(hasThreads(withoutThreads)).toBe(false);
});
