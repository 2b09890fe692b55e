// exec.run: results, input, environment, time limits, output.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { needs, needsShell } from "../../support/needs.ts";
import { residentBytes } from "../../support/processes.ts";
import { newSession } from "../../support/session.ts";
import { testOnce, times } from "../../support/transport.ts";
import { until } from "../../support/wait.ts";
import type { Wire } from "../../support/wire.ts";

let daemon: TestDaemon;
let wire: Wire;
beforeAll(async () => {
  daemon = await startDaemon({
    flags: ["--max-sessions", "1000"],
    env: { FROM_DAEMON: "daemon", TRL_AUTH_TOKEN: "t0p" },
  });
  wire = await daemon.connect();
});
afterAll(() => daemon[Symbol.asyncDispose]());

describe("the result", () => {
  test("has every field of the contract", async () => {
    const { run } = await newSession(wire);
    const result = await run("echo out; echo err >&2; exit 3");
    expect(result).toMatchObject({
      stdout: "out\n",
      stderr: "err\n",
      exit_code: 3,
      timed_out: false,
      signal: null,
      reason: "exit",
      truncated: false,
      stdout_bytes: 4,
      stderr_bytes: 4,
      leftovers: [],
      working_dir: "/tmp",
    });
    expect(result.duration_ms).toBeGreaterThanOrEqual(0);
    expect(result.command_id).toMatch(/^x-[0-9a-f]{8}$/);
  });

  test("tells a signal from an exit", async () => {
    const { run } = await newSession(wire);
    expect(await run("kill -TERM $$; sleep 5")).toMatchObject({
      exit_code: 143,
      signal: "SIGTERM",
      reason: "signal",
    });
  });

  test("is an error only with check", async () => {
    const session = await newSession(wire);
    const error = await wire.fail("exec.run", {
      session_id: session.id,
      command: "echo no; exit 4",
      check: true,
    });
    expect(error).toMatchObject({ code: "COMMAND_FAILED", data: { exit_code: 4, stdout: "no\n" } });
    expect(await session.out("true", { check: true })).toBe("");
  });

  test("comes for each of many commands in a row", async () => {
    const { out } = await newSession(wire);
    for (let i = 0; i < times(200, 20); i++) expect(await out(`n=$((n + 1)); echo $n`)).toBe(String(i + 1));
  });
});

describe("input", () => {
  test("is the string given, else nothing at once", async () => {
    const { out } = await newSession(wire);
    expect(await out("cat | tr a-z A-Z", { stdin: "héllo\n" })).toBe("HéLLO");
    expect(await out("cat; echo end")).toBe("end");
    expect(await out("wc -c", { stdin: "" })).toBe("0");
  });

  needs("linux").test("is /dev/null where there is none", async () => {
    expect(await (await newSession(wire)).out("readlink /proc/self/fd/0")).toBe("/dev/null");
  });

  test("of a megabyte arrives whole", async () => {
    const { out } = await newSession(wire);
    const text = "0123456789abcdef".repeat(65536);
    const hash = new Bun.CryptoHasher("md5").update(text).digest("hex");
    expect(await out("md5sum", { stdin: text })).toStartWith(hash);
  });

  test("that nobody reads is no error and holds nothing up", async () => {
    const { run } = await newSession(wire);
    const stdin = "x".repeat(1_000_000);
    for (const command of ["true", "exec 0<&-; echo closed", "head -c 5 >/dev/null"]) {
      expect(await run(command, { stdin })).toMatchObject({ exit_code: 0, stderr: "" });
    }
    expect((await run("sleep 300 & echo left", { stdin })).stdout).toBe("left\n");
  });
});

describe("the environment", () => {
  test("is the daemon's, under the session's, under the command's", async () => {
    const { out } = await newSession(wire, { env: { FROM_DAEMON: "session", OWN: "s" } });
    const print = 'echo "$FROM_DAEMON ${OWN-none} ${MORE-none}"';
    expect(await out(print)).toBe("session s none");
    expect(await out(print, { env: { FROM_DAEMON: "command", OWN: null, MORE: "m" } })).toBe(
      "command none m",
    );
    expect(await out(print)).toBe("session s none");
  });

  for (const shell of ["bash", "zsh", "dash"])
    needsShell(shell).test(`of one command does not stay, whatever ${shell} does with it`, async () => {
      const { out } = await newSession(wire, { shell, env: { A: "old" } });
      await out("B=kept; export A");
      await out("A=changed; B=changed; export B; NEW=1", { env: { A: "mine", B: "mine", C: "mine" } });
      expect(await out('echo "$A $B ${C-none} $NEW"; printenv B || echo not exported')).toBe(
        "old kept none 1\nnot exported",
      );
    });

  test("carries names that are no identifiers", async () => {
    const { out } = await newSession(wire, { env: { "odd.name": "1" } });
    expect(await out("env | grep ^odd.name=")).toBe("odd.name=1");
    expect(await out("env | grep ^more-odd=", { env: { "more-odd": "2" } })).toBe("more-odd=2");
    expect(await out("env | grep -c '^more-odd=' || true")).toBe("0");
  });

  test("never holds the daemon's settings or its token", async () => {
    const { out } = await newSession(wire);
    expect(await out("env | grep -c t0p || true")).toBe("0");
  });

  test("can be inherited safely or not at all", async () => {
    const safe = await newSession(wire, { inherit_env: "safe" });
    expect(await safe.out("echo $FROM_DAEMON")).toBe("daemon");
    const none = await newSession(wire, { inherit_env: "none", env: { ONE: "1" } });
    expect(await none.out("echo $FROM_DAEMON $ONE")).toBe("1");
  });
});

describe("the directory of one command", () => {
  test("is left again, unless the command goes elsewhere", async () => {
    const { out } = await newSession(wire, { working_dir: "/usr" });
    expect(await out("pwd", { working_dir: "/etc" })).toBe("/etc");
    expect(await out("pwd", { working_dir: "bin" })).toBe("/usr/bin");
    expect(await out("pwd")).toBe("/usr");
    await out("cd lib", { working_dir: "/usr/bin/.." });
    expect(await out("pwd")).toBe("/usr/lib");
  });

  test("must exist", async () => {
    const { id, out } = await newSession(wire);
    const error = await wire.fail("exec.run", { session_id: id, command: "pwd", working_dir: "/no/such" });
    expect(error).toMatchObject({ code: "INVALID_PARAMS", message: expect.stringContaining("/no/such") });
    expect(await out("pwd")).toBe("/tmp");
  });

  test("must be one that can be entered", async () => {
    mkdirSync(`${daemon.dir}/file-not-dir`, { recursive: true });
    const { id } = await newSession(wire);
    const error = await wire.fail("exec.run", { session_id: id, command: "pwd", working_dir: "/etc/passwd" });
    expect(error.code).toBe("INVALID_PARAMS");
  });
});

describe("the time limit", () => {
  test("stops the command and says so with what it had printed", async () => {
    const session = await newSession(wire, { timeout_s: 0.3 });
    const error = await wire.fail("exec.run", {
      session_id: session.id,
      command: "echo a; sleep 60; echo b",
    });
    expect(error).toMatchObject({
      code: "COMMAND_TIMEOUT",
      data: { timed_out: true, stdout: "a\n", reason: "timeout" },
    });
    expect(await session.out("echo usable")).toBe("usable");
  });

  testOnce()("is the command's own where it gives one; 0 and very large ones never fire", async () => {
    const { out } = await newSession(wire, { timeout_s: 0.2 });
    expect(await out("sleep 0.5; echo done", { timeout_s: 0 })).toBe("done");
    expect(await out("sleep 0.4; echo done", { timeout_s: 3e9 })).toBe("done");
    expect(await out("sleep 0.4; echo done", { timeout_s: 1e300 })).toBe("done");
  });

  testOnce()("is longer for a Cursor agent", async () => {
    const { out } = await newSession(wire, { timeout_s: 0.2 });
    expect(await out("agent 'hi' 2>/dev/null; sleep 0.5; echo done")).toBe("done");
  });

  testOnce()("kills what ignores SIGTERM", async () => {
    const session = await newSession(wire);
    const error = await wire.fail("exec.run", {
      session_id: session.id,
      command: "trap '' TERM; echo deaf; while :; do sleep 0.1; done",
      timeout_s: 0.2,
    });
    expect(error).toMatchObject({ code: "COMMAND_TIMEOUT", data: { stdout: "deaf\n", signal: "SIGKILL" } });
    expect(await session.out("echo usable")).toBe("usable");
  });
});

describe("output", () => {
  test("beyond the cap keeps head and tail, and says what is missing", async () => {
    const { run } = await newSession(wire);
    const result = await run("seq 1 100000", { max_output_bytes: 100 });
    expect(result.truncated).toBe(true);
    expect(result.stdout_bytes).toBe(588895);
    expect(result.stdout).toStartWith("1\n2\n3\n");
    expect(result.stdout).toEndWith("99999\n100000\n");
    expect(result.stdout).toContain("[trl: 588795 bytes left out]");
    const whole = await run("printf 1234567890", { max_output_bytes: 10 });
    expect(whole).toMatchObject({ stdout: "1234567890", truncated: false });
  });

  test("is never cut inside a character", async () => {
    const { run } = await newSession(wire);
    for (let cap = 20; cap < 30; cap++) {
      const { stdout } = await run("for i in $(seq 50); do printf '€'; done", { max_output_bytes: cap });
      expect(stdout).not.toContain("\uFFFD");
      expect(stdout).toMatch(/^€+\n\[trl: \d+ bytes left out\]\n€+$/);
    }
  });

  test("that is not UTF-8 becomes U+FFFD, or base64 byte for byte", async () => {
    const { run } = await newSession(wire);
    const command = "printf 'a\\377\\376\\200b\\0c'";
    expect((await run(command)).stdout).toBe("a\uFFFD\uFFFD\uFFFDb\0c");
    const { stdout } = await run(command, { encoding: "base64" });
    expect(Buffer.from(stdout, "base64").toString("hex")).toBe("61fffe80620063");
  });

  test("keeps a byte order mark", async () => {
    const { run } = await newSession(wire);
    expect((await run("printf '\\357\\273\\277x'")).stdout).toBe("\uFEFFx");
  });

  test("of both streams at once is complete", async () => {
    const { run } = await newSession(wire);
    const result = await run("seq 1 200000 & seq 1 200000 >&2; wait");
    expect([result.stdout_bytes, result.stderr_bytes]).toEqual([1288895, 1288895]);
  });

  testOnce()("of 300 MB leaves the daemon's memory where it was", async () => {
    const { run } = await newSession(wire);
    await run("head -c 20000000 /dev/zero | tr '\\0' x");
    // From outside: asking the daemon would be part of what is measured.
    const residentMb = () => residentBytes(daemon.pid) / 1024 / 1024;
    const before = residentMb();
    let peak = before;
    const watcher = setInterval(() => {
      peak = Math.max(peak, residentMb());
    }, 10);
    const result = await run("head -c 300000000 /dev/zero | tr '\\0' x");
    clearInterval(watcher);
    expect(result.stdout_bytes).toBe(300_000_000);
    expect(peak - before).toBeLessThan(64);
  });
});

test("a client that goes away does not stop its command", async () => {
  const session = await newSession(wire);
  const other = await daemon.connect();
  other.sendFrame({
    id: "1",
    method: "exec.run",
    params: { session_id: session.id, command: `echo started >${daemon.dir}/mark; sleep 0.3; x=finished` },
  });
  await until("the command to run", () => Bun.file(`${daemon.dir}/mark`).exists());
  other[Symbol.dispose]();
  await until("the session to be idle", async () => {
    const info = await wire.call("session.info", { session_id: session.id });
    return info.state === "idle";
  });
  expect(await session.out("echo $x")).toBe("finished");
});

describe("exec.wait", () => {
  test("gives what exec.run would have given, to anybody, before and after the end", async () => {
    const session = await newSession(wire);
    const command_id = "x-5a17c0de";
    const command = "cd /usr; head -c 3000 /dev/zero | tr '\\0' x; echo oops >&2; sleep 0.2; exit 3";
    const run = wire.call("exec.run", {
      session_id: session.id,
      command,
      command_id,
      max_output_bytes: 1000,
    });
    using other = await daemon.connect();
    await until("the command to be there", async () =>
      (await other.call("exec.list", {})).streams.some(({ stream_id }) => stream_id === command_id),
    );
    const meanwhile = other.call("exec.wait", { stream_id: command_id });
    const result = await run;
    expect(result).toMatchObject({ truncated: true, exit_code: 3, working_dir: "/usr", command_id });
    expect(await meanwhile).toEqual(result);
    await wire.call("session.destroy", { session_id: session.id });
    expect(await other.call("exec.wait", { stream_id: command_id })).toEqual(result);
    expect(await other.fail("exec.wait", { stream_id: command_id, check: true })).toMatchObject({
      code: "COMMAND_FAILED",
      data: result,
    });
    const inBytes = await other.call("exec.wait", { stream_id: command_id, encoding: "base64" });
    expect(Buffer.from(inBytes.stdout, "base64").toString()).toBe(result.stdout);
    expect((await other.fail("exec.wait", { stream_id: "x-00000000" })).code).toBe("STREAM_NOT_FOUND");
  });

  test("has the same error for a limit that was reached", async () => {
    const session = await newSession(wire);
    const command_id = "x-11311e55";
    const error = await wire.fail("exec.run", {
      session_id: session.id,
      command: "echo begun; sleep 60",
      command_id,
      timeout_s: 0.3,
    });
    expect(error.code).toBe("COMMAND_TIMEOUT");
    expect(await wire.fail("exec.wait", { stream_id: command_id })).toEqual(error);
  });
});
