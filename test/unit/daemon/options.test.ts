import { afterAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { environmentName, type FlagName, type FlagTable, flags } from "../../../src/daemon/flags.ts";
import { OptionError } from "../../../src/daemon/option-error.ts";
import { type GivenFlags, readOptions } from "../../../src/daemon/options.ts";
import { tempDir } from "../../support/temp-dir.ts";

const dir = tempDir();
afterAll(() => dir[Symbol.dispose]());

function envFile(text: string): string {
  const path = join(dir.path, "env-file");
  writeFileSync(path, text);
  return path;
}

function refusal(given: GivenFlags, env: Record<string, string> = {}): string {
  try {
    readOptions(given, env);
  } catch (error) {
    if (error instanceof OptionError) return error.message;
    throw error;
  }
  throw new Error("the options were accepted");
}

describe("what sessions inherit", () => {
  test("is all, unless something else is said", () => {
    expect(readOptions({}, {}).envPolicy).toEqual({ mode: "all", include: [], exclude: [] });
    const env = { TRL_INHERIT_ENV: "safe", TRL_ENV_INCLUDE: "LC_*, TZ,", TRL_ENV_EXCLUDE: "AWS_*" };
    expect(readOptions({}, env).envPolicy).toEqual({
      mode: "safe",
      include: ["LC_*", "TZ"],
      exclude: ["AWS_*"],
    });
    expect(refusal({ "inherit-env": "some" })).toBe('--inherit-env is one of all, safe, none, not "some"');
  });
});

describe("limits of a connection", () => {
  test("are generous by default", () => {
    expect(readOptions({}, {}).connectionLimits).toEqual({
      sessions: 0,
      commands: 256,
      requests: 1024,
      queuedBytes: 8 * 1024 * 1024,
    });
  });

  test("leave at least one request to be answered", () => {
    expect(refusal({ "connection-max-requests": "0" })).toBe(
      '--connection-max-requests needs a whole number >= 1, not "0"',
    );
  });
});

describe("a setting comes from", () => {
  test("the flag, else the environment, else the file, else the default", () => {
    const inFile = { "env-file": envFile("TRL_MAX_SESSIONS=3\n") };
    const inEnv = { TRL_MAX_SESSIONS: "2" };
    expect(readOptions({ ...inFile, "max-sessions": "1" }, inEnv).maxSessions).toBe(1);
    expect(readOptions(inFile, inEnv).maxSessions).toBe(2);
    expect(readOptions(inFile, {}).maxSessions).toBe(3);
    expect(readOptions({}, {}).maxSessions).toBe(64);
  });

  test("a file that the environment names", () => {
    const env = { TRL_ENV_FILE: envFile("TRL_SHELL=/bin/zsh\n") };
    expect(readOptions({}, env).shell).toBe("/bin/zsh");
  });

  test("the default, where a variable is empty", () => {
    expect(readOptions({}, { TRL_MAX_SESSIONS: "", TRL_LOG_FORMAT: "" })).toMatchObject({
      maxSessions: 64,
      logFormat: "pretty",
    });
  });

  test("switches that are on in any of the usual ways", () => {
    for (const word of ["true", "1", "yes", "on"]) {
      expect(readOptions({}, { TRL_VERBOSE: word }).isVerbose).toBeTrue();
    }
    expect(readOptions({ verbose: true }, {}).isVerbose).toBeTrue();
    expect(readOptions({ verbose: false }, { TRL_VERBOSE: "1" }).isVerbose).toBeFalse();
    for (const word of ["false", "0", "no", "off", ""]) {
      expect(readOptions({}, { TRL_VERBOSE: word }).isVerbose).toBeFalse();
    }
  });
});

test("the file's variables lie under the daemon's own", () => {
  const given = { "env-file": envFile("A=file\nB='of the file'\n# C=comment\n") };
  expect(readOptions(given, { A: "own", D: undefined }).env).toEqual({ A: "own", B: "of the file" });
});

describe("the socket is", () => {
  test("where it was asked for, else in the directory, else in /tmp", () => {
    expect(readOptions({ "socket-path": "/a.sock", "socket-dir": "/d" }, {}).socketPath).toBe("/a.sock");
    expect(readOptions({ "socket-dir": "/d" }, {}).socketPath).toBe("/d/trl.sock");
    expect(readOptions({}, { TRL_SOCKET_DIR: "/d" }).socketPath).toBe("/d/trl.sock");
    expect(readOptions({}, {}).socketPath).toBe("/tmp/trl.sock");
  });

  test("where a flag asks for it, whatever the environment says of the other flag", () => {
    expect(readOptions({ "socket-dir": "/d" }, { TRL_SOCKET_PATH: "/e.sock" }).socketPath).toBe(
      "/d/trl.sock",
    );
  });
});

describe("a bad value is refused by the flag's name:", () => {
  const numeric = Object.entries(flags as FlagTable).filter(
    ([, { kind }]) => kind === "count" || kind === "seconds",
  );
  for (const [name, { kind }] of numeric) {
    test(name, () => {
      const bad = ["abc", "-1", "1x", "NaN", "1,5", ...(kind === "count" ? ["1.5", "Infinity"] : [])];
      for (const value of bad) {
        expect(refusal({ [name]: value })).toStartWith(`--${name} needs `);
        expect(refusal({}, { [environmentName(name)]: value })).toStartWith(`--${name} needs `);
      }
    });
  }

  test("text flags that are empty", () => {
    for (const name of [
      "socket-path",
      "socket-dir",
      "shell",
      "log-format",
      "max-sessions",
    ] satisfies FlagName[]) {
      expect(refusal({ [name]: "" })).toBe(`--${name} needs a value`);
    }
  });

  test("a choice that is none", () => {
    expect(refusal({ "log-format": "xml" })).toBe('--log-format is one of pretty, json, not "xml"');
    expect(refusal({}, { TRL_LOG_FORMAT: "xml" })).toStartWith("--log-format is one of");
  });

  test("a file that is not there", () => {
    expect(refusal({ "env-file": join(dir.path, "missing") })).toStartWith("--env-file: ENOENT");
  });

  test("a number that is only blanks", () => {
    expect(refusal({ "max-sessions": " " })).toStartWith("--max-sessions needs ");
  });

  test("a switch that is neither on nor off", () => {
    expect(refusal({}, { TRL_VERBOSE: "maybe" })).toStartWith("--verbose ");
  });

  test("but not an empty TRL_ENV_FILE, which is as good as none", () => {
    expect(readOptions({}, { TRL_ENV_FILE: "" }).maxSessions).toBe(64);
  });
});

test("seconds may be fractional", () => {
  expect(readOptions({ "default-timeout-s": "0.5" }, {}).defaultTimeoutS).toBe(0.5);
});
