// What commands and terminals find in their environment.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { newSession } from "../../support/session.ts";
import { newTerminal } from "../../support/terminal.ts";
import type { Wire } from "../../support/wire.ts";

const daemonEnv = {
  PAGER: "less",
  GITHUB_TOKEN: "ghp-1",
  AWS_REGION: "eu",
  AWS_SECRET_ACCESS_KEY: "aws-2",
  PLAIN: "yes",
  TRL_AUTH_TOKEN: "daemon-3",
};

let daemon: TestDaemon;
let wire: Wire;

beforeAll(async () => {
  daemon = await startDaemon({ env: daemonEnv });
  wire = await daemon.connect();
});
afterAll(async () => {
  wire[Symbol.dispose]();
  await daemon[Symbol.asyncDispose]();
});

describe("a session", () => {
  test("that asks for `safe` sees no credential", async () => {
    const { out } = await newSession(wire, { inherit_env: "safe" });
    expect(await out("echo $GITHUB_TOKEN$AWS_SECRET_ACCESS_KEY$TRL_AUTH_TOKEN.$AWS_REGION.$PLAIN")).toBe(
      ".eu.yes",
    );
  });

  test("includes and excludes by pattern", async () => {
    const picked = await newSession(wire, {
      inherit_env: "none",
      env_include: ["PATH", "GITHUB_*", "TRL_*"],
    });
    expect(await picked.out("echo $GITHUB_TOKEN.$PLAIN.$TRL_AUTH_TOKEN")).toBe("ghp-1..");
    const without = await newSession(wire, { env_exclude: ["AWS_*", "G?THUB_TOKEN"] });
    expect(await without.out("echo $AWS_REGION$AWS_SECRET_ACCESS_KEY$GITHUB_TOKEN.$PLAIN")).toBe(".yes");
  });

  test("is refused a pattern that is none", async () => {
    for (const params of [{ env_include: "PATH" }, { env_exclude: [""] }, { env_include: [1] }])
      expect((await wire.fail("session.create", params)).code).toBe("INVALID_PARAMS");
  });

  test("has no pager and no prompt, unless it asks for one", async () => {
    const shown = "echo $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $DEBIAN_FRONTEND";
    const plain = await newSession(wire);
    expect(await plain.out(shown)).toBe("cat cat 0 noninteractive");
    const own = await newSession(wire, { env: { PAGER: "more", GIT_PAGER: null } });
    expect(await own.out(shown)).toBe("more 0 noninteractive");
    expect(await own.out(shown, { env: { PAGER: "most" } })).toBe("most 0 noninteractive");
    const none = await newSession(wire, { inherit_env: "none", env: { PATH: process.env["PATH"]! } });
    expect(await none.out(shown)).toBe("");
  });
});

describe("a terminal", () => {
  test("has the user's own pager: there somebody can turn the page", async () => {
    const { waitFor } = await newTerminal(wire, {
      command: "echo pager=$PAGER.$GIT_TERMINAL_PROMPT; sleep 60",
    });
    await waitFor("pager=less.");
  });

  test("is asked what it inherits in the same words", async () => {
    const { waitFor } = await newTerminal(wire, {
      command: "echo token=$GITHUB_TOKEN.region=$AWS_REGION.plain=$PLAIN.; sleep 60",
      inherit_env: "safe",
      env_include: ["GITHUB_*"],
      env_exclude: ["AWS_*"],
    });
    await waitFor("token=ghp-1.region=.plain=yes.");
  });
});

describe("the daemon's own policy", () => {
  test("holds for all who do not choose, and its exclusions for all", async () => {
    const flags = ["--inherit-env", "safe", "--env-include", "GITHUB_*, NOTHING", "--env-exclude", "AWS_*"];
    await using strict = await startDaemon({ env: daemonEnv, flags });
    using client = await strict.connect();
    const shown = "echo $GITHUB_TOKEN.$AWS_REGION.$AWS_SECRET_ACCESS_KEY.$PLAIN";
    expect(await (await newSession(client)).out(shown)).toBe("ghp-1...yes");
    const asked = await newSession(client, { inherit_env: "all", env_include: ["AWS_*"] });
    expect(await asked.out(shown)).toBe("ghp-1...yes");
    const terminal = await newTerminal(client, {
      command: `${shown.replace("echo ", "echo is=")}; sleep 60`,
    });
    await terminal.waitFor("is=ghp-1...yes");
  });
});
