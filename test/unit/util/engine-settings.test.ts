import { expect, test } from "bun:test";
import {
  compileLater,
  isOwnSetting,
  isSettled,
  missingSettings,
  withoutThreads,
} from "../../../src/util/engine-settings.ts";

const [name] = Object.keys(compileLater) as [string];

test("what is missing is added with its names, and is nobody else's business then", () => {
  const env = { PATH: "/bin", ...missingSettings(compileLater, { PATH: "/bin" }) };
  expect(env).toMatchObject(compileLater);
  expect(isSettled(env)).toBe(true);
  const own = Object.keys(env).filter((each) => isOwnSetting(each, env));
  expect(own.sort()).toEqual([name, "TRL_ENGINE_SETTINGS"]);
});

test("what somebody has set stands, and is passed on", () => {
  const env = { [name]: "5" };
  expect(missingSettings(compileLater, env)).toBeUndefined();
  expect(isOwnSetting(name, env)).toBe(false);
  const mixed = { ...env, ...missingSettings({ ...compileLater, ...withoutThreads }, env) };
  expect(mixed[name]).toBe("5");
  expect(isOwnSetting(name, mixed)).toBe(false);
  for (const each of Object.keys(withoutThreads)) expect(isOwnSetting(each, mixed)).toBe(true);
});
