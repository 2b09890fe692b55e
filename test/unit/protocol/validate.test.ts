import { describe, expect, test } from "bun:test";
import { TrlError } from "../../../src/protocol/errors.ts";
import type { MethodName } from "../../../src/protocol/methods.ts";
import { validateParams } from "../../../src/protocol/validate.ts";

const secret = "hunter2";
const run = { session_id: "s-00000000", command: "true" };

function complaint(method: MethodName, params: unknown): string {
  try {
    validateParams(method, params);
  } catch (error) {
    if (error instanceof TrlError && error.code === "INVALID_PARAMS") return error.message;
    throw error;
  }
  throw new Error("the params were accepted");
}

describe("a message names the field and what was expected:", () => {
  const cases: [params: object, message: string][] = [
    [{ ...run, command: 7 }, "command: expected string, got a number"],
    [{ ...run, command: [secret] }, "command: expected string, got an array"],
    [{ ...run, command: { secret } }, "command: expected string, got an object"],
    [{ ...run, command: `a\0${secret}` }, "command: expected text without NUL bytes"],
    [{ ...run, timeout_s: secret }, "timeout_s: expected number, got a string"],
    [{ ...run, timeout_s: -1 }, "timeout_s: expected a number of seconds >= 0"],
    [{ ...run, check: secret }, "check: expected boolean, got a string"],
    [{ ...run, encoding: secret }, 'encoding: expected ("utf8" | "base64"), got a string'],
    [{ ...run, max_output_bytes: 1.5 }, "max_output_bytes: expected a whole number of bytes"],
    [{ ...run, max_output_bytes: -1 }, "max_output_bytes: expected a number >= 0"],
    [{ ...run, max_output_bytes: 2 ** 40 }, "max_output_bytes: expected at most 67108864 bytes"],
    [{ ...run, env: { A: 1 } }, "env.A: expected string or null"],
    [{ ...run, env: secret }, "env: expected an object, got a string"],
  ];
  for (const [params, message] of cases) {
    test(message, () => {
      const told = complaint("exec.run", params);
      expect(told).toBe(message);
      expect(told).not.toContain(secret);
    });
  }

  test("params that are not an object", () => {
    for (const params of [[secret], secret, 7, true]) {
      const told = complaint("session.create", params);
      expect(told).toMatch(/^params: expected an object, got (an array|a string|a number|a boolean)$/);
    }
  });

  test("a missing field", () => {
    expect(complaint("exec.run", { command: secret })).toStartWith("session_id: required");
  });

  test("a missing field, with its expected type", () => {
    expect(complaint("exec.run", { command: secret })).toBe("session_id: required, expected string");
  });

  test("but never a value that was put into the name of a variable", () => {
    expect(complaint("exec.run", { ...run, env: { [`API_KEY=${secret}`]: "x" } })).not.toContain(secret);
  });
});

describe("a misspelt name", () => {
  test("gives a hint", () => {
    expect(complaint("exec.run", { session_id: "s-00000000", comand: secret })).toEndWith(
      '(is "comand" meant to be "command"?)',
    );
    expect(complaint("exec.run", { sessionId: "s-00000000", command: secret })).toEndWith(
      '(is "sessionId" meant to be "session_id"?)',
    );
  });

  test("gives no hint if the right one is present, too", () => {
    expect(complaint("exec.run", { ...run, comand: "x", timeout_s: secret })).toBe(
      "timeout_s: expected number, got a string",
    );
  });

  test("that resembles no known name gives no hint", () => {
    expect(complaint("exec.run", { session_id: "s-00000000", unrelated: secret })).not.toContain("meant");
  });
});

describe("null", () => {
  test("is the same as missing", () => {
    const params = { ...run, timeout_s: null, env: null, check: null, encoding: null };
    expect(validateParams("exec.run", params)).toEqual(run);
    expect(complaint("exec.run", { ...run, command: null })).toStartWith("command: required");
  });

  test("or missing params are no params", () => {
    for (const params of [null, undefined, {}]) expect(validateParams("system.ping", params)).toEqual({});
  });

  test("unsets a variable, which is something else", () => {
    expect(validateParams("exec.run", { ...run, env: { A: null } })).toEqual({ ...run, env: { A: null } });
  });
});

test("seconds may be fractional and however large", () => {
  for (const timeout_s of [0, 0.001, 60, 2 ** 31, 1e15, 1e308]) {
    expect(validateParams("exec.run", { ...run, timeout_s }).timeout_s).toBe(timeout_s);
  }
});

test("unknown fields are ignored", () => {
  const params = JSON.parse(
    '{"session_id":"s-00000000","command":"true","later":1,"__proto__":{"check":true}}',
  );
  expect(validateParams("exec.run", params)).toEqual(run);
});

test("invalid variable names are refused", () => {
  for (const name of ["", "A=B", "A\0"]) {
    expect(complaint("exec.run", { ...run, env: { [name]: "x" } })).toContain("expected a variable name");
  }
});

test("names with a meaning in JavaScript are ordinary variables", () => {
  const env = { constructor: "a", prototype: "b" };
  expect(validateParams("exec.run", { ...run, env }).env).toEqual({ ...env });
});

test("an array is not an environment", () => {
  expect(complaint("exec.run", { ...run, env: ["a"] })).toStartWith("env: expected");
});

describe("isolation refuses unknown fields:", () => {
  const cases: [unknown, string][] = [
    [{ limit: {} }, 'isolation.limit: no such field; is it meant to be "limits"?'],
    [
      { limits: { memory: 1 } },
      "isolation.limits.memory: no such field; there are memory_bytes, cpu_percent, pids,",
    ],
    [
      { sandbox: { writeable: [] } },
      'isolation.sandbox.writeable: no such field; is it meant to be "writable"?',
    ],
    [{ limits: { "a secret": 1 } }, "isolation.limits.(name): no such field"],
    [{ limits: { wall_clock_s: 0 } }, "isolation.limits.wall_clock_s: expected at least 0.1 seconds"],
    [{ limits: { memory_bytes: 1e300 * 1e300 } }, "isolation.limits.memory_bytes: expected"],
    [{ limits: [] }, "isolation.limits"],
    [{ root: "relative" }, "isolation.root: expected an absolute path"],
    [{ root: "/a\0b" }, "isolation.root: expected text without NUL bytes"],
    [[], "isolation"],
  ];
  for (const [isolation, message] of cases)
    for (const method of ["session.create", "pty.create"] as const)
      test(`${method}: ${JSON.stringify(isolation)}`, () =>
        expect(complaint(method, { isolation })).toStartWith(message));

  test("null counts as missing", () => {
    const isolation = { limits: { pids: null, memory_bytes: 5 }, root: null, sandbox: null };
    expect(validateParams("session.create", { isolation }).isolation).toEqual(isolation);
    expect(validateParams("session.create", { isolation: null }).isolation).toBeUndefined();
  });
});
