// Runtimes as they are made known, looked at, chosen and forgotten.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { startHttp } from "../../support/http.ts";
import { isAlive } from "../../support/processes.ts";
import { binary, shellBinary } from "../../support/program.ts";
import { newSession } from "../../support/session.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { until } from "../../support/wait.ts";
import type { Wire } from "../../support/wire.ts";

let far: TestDaemon;
let front: TestDaemon;
let wire: Wire;
beforeAll(async () => {
  far = await startDaemon({ flags: ["--max-sessions", "200"] });
  front = await startDaemon({ flags: ["--runtime", `far=socket:${far.socketPath}`, "--labels", "desk"] });
  wire = await front.connect();
});
afterAll(async () => {
  wire[Symbol.dispose]();
  await front[Symbol.asyncDispose]();
  await far[Symbol.asyncDispose]();
});

const infoOf = async (name: string, its = wire) =>
  (await its.call("runtime.list", {})).runtimes.find((runtime) => runtime.name === name)!;

describe("runtime.list", () => {
  test("begins with the host, and knows of the others what has been seen of them", async () => {
    await using fresh = await startDaemon({ flags: ["--runtime", `far=socket:${far.socketPath}`] });
    using its = await fresh.connect();
    const { runtimes } = await its.call("runtime.list", {});
    expect(runtimes.map(({ name, kind, state }) => [name, kind, state])).toEqual([
      ["host", "host", "connected"],
      ["far", "socket", "idle"],
    ]);
    expect(runtimes[1]).toMatchObject({ target: far.socketPath, version: null, running_commands: null });
    const session = await newSession(its, { runtime: "far" });
    const running = session.run("sleep 0.5");
    await until("the command to run", async () => (await infoOf("far", its)).running_commands === 1);
    expect(await infoOf("far", its)).toMatchObject({ state: "connected", sessions: 1, reason: null });
    expect((await infoOf("far", its)).version).toMatch(/^\d/);
    await running;
    await its.call("session.destroy", { session_id: session.id });
    expect(await infoOf("far", its)).toMatchObject({ sessions: 0, running_commands: 0 });
  });

  test("tells since when and why one cannot be reached", async () => {
    await wire.call("runtime.add", { name: "nobody", kind: "socket", path: "/nonexistent/trl.sock" });
    const before = Date.now();
    const error = await wire.fail("session.create", { runtime: "nobody" });
    expect(error).toMatchObject({
      code: "RUNTIME_UNAVAILABLE",
      data: { runtime: "nobody", may_have_run: false, reason: expect.stringContaining("/nonexistent") },
    });
    const since = Date.parse(error.data!["since"]);
    expect(since).toBeGreaterThanOrEqual(before - 1000);
    expect(await infoOf("nobody")).toMatchObject({
      state: "unavailable",
      since: error.data!["since"],
      reason: error.data!["reason"],
    });
    // It is the same trouble, however often it is met.
    expect((await wire.fail("pty.create", { runtime: "nobody" })).data!["since"]).toBe(error.data!["since"]);
    await wire.call("runtime.remove", { name: "nobody" });
  });
});

describe("runtime.add", () => {
  test.each([
    [{ name: "a b", kind: "socket", path: "/x" }, "name"],
    [{ name: "x", kind: "moon" }, "kind"],
    [{ name: "x", kind: "socket" }, "path: required"],
    [{ name: "x", kind: "socket", path: "/x", host: "y" }, "host: a runtime of kind socket has only"],
    [{ name: "x", kind: "http", url: "ftp://x" }, "url"],
    [{ name: "x", kind: "http", url: "http://x", token: "a", token_file: "b" }, "token, token_file"],
    [{ name: "x", kind: "command", argv: [] }, "argv"],
    [{ name: "x", kind: "ssh", host: "-oProxyCommand=sh" }, "host"],
    [{ name: "x", kind: "docker" }, "container, image"],
    [{ name: "x", kind: "socket", path: "/x", labels: ["a b"] }, "labels.0"],
    [{ name: "host", kind: "socket", path: "/x" }, 'name: there is a runtime "host" already'],
    [{ name: "far", kind: "socket", path: "/x" }, 'name: there is a runtime "far" already'],
  ])("refuses %j and names the field", async (params, message) => {
    expect(await wire.fail("runtime.add", params)).toMatchObject({
      code: "INVALID_PARAMS",
      message: expect.stringContaining(message),
    });
  });

  test("a token is never seen again: not in a list, a log or an error", async () => {
    await using other = await startHttp();
    const secret = "hunter2hunter2";
    await wire.call("runtime.add", { name: "web", kind: "http", url: other.url, token: secret });
    const error = await wire.fail("session.create", { runtime: "web" });
    expect(error.code).toBe("RUNTIME_UNAVAILABLE");
    await wire.call("runtime.list", {});
    await wire.fail("runtime.check", { name: "web" });
    const command = { name: "words", kind: "command" as const, argv: ["/bin/false", secret] };
    await wire.call("runtime.add", command);
    await wire.fail("session.create", { runtime: "words" });
    await wire.call("runtime.list", {});
    expect(`${wire.rawLines.join("\n")}${front.log()}`).not.toContain(secret);
    for (const name of ["web", "words"]) await wire.call("runtime.remove", { name });
  });
});

describe("runtime.remove", () => {
  test("does not take sessions with it unless it is told to, and tells who follows them", async () => {
    await wire.call("runtime.add", { name: "twin", kind: "socket", path: far.socketPath });
    const session = await newSession(wire, { runtime: "twin" });
    const { stream_id } = await wire.call("exec.stream", { session_id: session.id, command: "sleep 100" });
    expect(await wire.fail("runtime.remove", { name: "twin" })).toMatchObject({ code: "SESSION_BUSY" });
    await wire.call("runtime.remove", { name: "twin", force: true });
    const exit = await wire.frame((frame) => frame["stream_id"] === stream_id && frame["type"] === "exit");
    expect(exit).toMatchObject({ reason: "lost", error: { code: "RUNTIME_NOT_FOUND" } });
    // The daemon there goes its own way: it is found under its other name.
    expect(await wire.call("session.info", { session_id: session.id })).toMatchObject({ runtime: "far" });
    await wire.call("session.destroy", { session_id: session.id, force: true });
  });

  test("ends the process that was the daemon, with all that it had", async () => {
    await wire.call("runtime.add", { name: "own", kind: "command", argv: [binary, "--stdin"] });
    const session = await newSession(wire, { runtime: "own" });
    const pid = Number((await session.run("sleep 500 & echo $!")).stdout);
    const daemon = Number(await session.out("echo ${TRL_DAEMON%%:*}"));
    expect(isAlive(daemon) && isAlive(pid)).toBe(true);
    await wire.call("runtime.remove", { name: "own", force: true });
    await until("their end", () => !isAlive(daemon) && !isAlive(pid));
    expect((await wire.fail("session.info", { session_id: session.id })).code).toBe("SESSION_NOT_FOUND");
  });

  test("refuses the host, and what it does not know", async () => {
    expect((await wire.fail("runtime.remove", { name: "host" })).code).toBe("INVALID_PARAMS");
    expect(await wire.fail("runtime.remove", { name: "fart" })).toMatchObject({
      code: "RUNTIME_NOT_FOUND",
      message: expect.stringContaining('is "far" meant?'),
    });
  });
});

describe("runtime.check", () => {
  test("says what is there", async () => {
    const host = await wire.call("runtime.check", { name: "host" });
    const there = await wire.call("runtime.check", { name: "far" });
    expect(there).toMatchObject({
      name: "far",
      kind: "socket",
      version: host.version,
      platform: host.platform,
    });
    expect(there.latency_ms).toBeGreaterThan(0);
    expect(there.capabilities["transports"]).toEqual(["unix"]);
    expect(host.capabilities["labels"]).toEqual(["desk"]);
  });

  test.each([
    "echo welcome to the machine",
    "cat", // says what it hears
    "echo null; cat",
    "echo 12; cat",
    `echo '{"id":"1","ok":false}'; cat`,
    `echo '{"id":"1","ok":true}'; cat`,
    `echo '{"id":"1","ok":true,"data":null}'; cat`,
  ])("of something that speaks another language: %s", async (script) => {
    await wire.call("runtime.add", { name: "stranger", kind: "command", argv: ["sh", "-c", script] });
    const error = await wire.fail("runtime.check", { name: "stranger" });
    expect(error).toMatchObject({ code: "RUNTIME_UNAVAILABLE" });
    expect(error.data!["reason"]).toContain("does not speak the protocol");
    await wire.call("runtime.remove", { name: "stranger" });
    expect(front.log()).not.toContain("ERROR");
  });
});

describe("a runtime by its labels", () => {
  test("is one that has them all, can be reached, and has the least to do", async () => {
    await using second = await startDaemon();
    const path = (daemon: TestDaemon) => ({ kind: "socket", path: daemon.socketPath }) as const;
    await wire.call("runtime.add", { name: "dead", kind: "socket", path: "/nonexistent", labels: ["gpu"] });
    await wire.call("runtime.add", { name: "one", ...path(far), labels: ["gpu", "big"] });
    await wire.call("runtime.add", { name: "two", ...path(second), labels: ["gpu"] });
    const placeOf = async (needs: string[], more = {}) =>
      (await wire.call("session.create", { needs, ...more })).runtime;
    expect(await placeOf(["gpu", "big"])).toBe("one");
    expect(await placeOf(["desk"])).toBe("host");
    expect(await placeOf(["gpu"], { runtime: "two" })).toBe("two");
    const busy = await newSession(wire, { runtime: "one" });
    const running = busy.run("sleep 30");
    await until("the command to run", async () => (await infoOf("one")).running_commands === 1);
    expect(await placeOf(["gpu"])).toBe("two");
    const terminal = await wire.call("pty.create", { needs: ["gpu"], command: "sleep 1000" });
    expect(terminal.runtime).toBe("two");
    await wire.call("exec.cancel", { session_id: busy.id });
    await running;
    expect((await wire.fail("session.create", { needs: ["tpu"] })).code).toBe("RUNTIME_NOT_FOUND");
    expect((await wire.fail("session.create", { needs: ["big"], runtime: "two" })).code).toBe(
      "RUNTIME_NOT_FOUND",
    );
    expect((await wire.fail("session.create", { needs: ["gpu"], runtime: "dead" })).code).toBe(
      "RUNTIME_UNAVAILABLE",
    );
    expect((await wire.fail("session.create", { needs: "gpu" })).message).toStartWith("needs");
    for (const name of ["dead", "one", "two"]) await wire.call("runtime.remove", { name, force: true });
  });

  test("is waited for where it takes long to be reached for the first time, and no other is at hand", async () => {
    const argv = ["sh", "-c", `sleep 2.1; exec ${shellBinary} dial-stdio --socket-path ${far.socketPath}`];
    await wire.call("runtime.add", { name: "slow", kind: "command", argv, labels: ["late", "big"] });
    await wire.call("runtime.add", { name: "dead", kind: "socket", path: "/nonexistent", labels: ["late"] });
    await wire.call("runtime.add", { name: "quick", kind: "socket", path: far.socketPath, labels: ["big"] });
    const [late, big] = await Promise.all(
      ["late", "big"].map((label) => wire.call("session.create", { needs: [label] })),
    );
    expect([late!.runtime, big!.runtime]).toEqual(["slow", "quick"]);
    for (const name of ["slow", "dead", "quick"]) await wire.call("runtime.remove", { name, force: true });
  });
});

describe("the configuration file", () => {
  test("names runtimes of every kind that can be reached, and labels", async () => {
    using dir = tempDir();
    const config = join(dir.path, "config.toml");
    writeFileSync(
      config,
      `labels = ["desk"]

[runtimes.near]
kind = "socket"
path = ${JSON.stringify(far.socketPath)}
labels = ["fast"]
patience_s = 3

[runtimes.own]
kind = "command"
argv = [${JSON.stringify(binary)}, "--stdin"]
env = { COLOUR = "blue" }
`,
    );
    await using daemon = await startDaemon({ flags: ["--config", config] });
    using its = await daemon.connect();
    const { runtimes } = await its.call("runtime.list", {});
    expect(runtimes.map(({ name, labels }) => [name, labels])).toEqual([
      ["host", ["desk"]],
      ["near", ["fast"]],
      ["own", []],
    ]);
    expect(await (await newSession(its, { runtime: "near" })).out("echo here")).toBe("here");
    expect(await (await newSession(its, { runtime: "own" })).out("echo $COLOUR")).toBe("blue");
  });

  test.each([
    ["[runtimes.gpu\nkind = 1", "line 1"],
    ["labels = []\n\n[runtimes.gpu]\nkind = ", "line 4"],
    ['[runtimes.gpu]\nkind = "moon"', "runtimes.gpu.kind: expected one of socket"],
    [
      '[runtimes.gpu]\nkind = "socket"\npaht = "/x"',
      'runtimes.gpu.path: required, expected string (is "paht" meant',
    ],
    ['[runtimes.gpu]\nkind = "socket"\npath = 5', "runtimes.gpu.path: expected string"],
    ['[runtimes.gpu]\nkind = "socket"\npath = "/x"\nurl = "y"', "runtimes.gpu.url: a runtime of kind socket"],
    ['[runtime.gpu]\nkind = "socket"', 'runtime: not known here; is "runtimes" meant?'],
    ['labels = "gpu"', "labels"],
    ['[runtimes.host]\nkind = "socket"\npath = "/x"', 'there is a runtime "host" already'],
  ])("that is broken is told by its place: %j", (text, message) => {
    using dir = tempDir();
    const config = join(dir.path, "config.toml");
    writeFileSync(config, text);
    const socket = join(dir.path, "trl.sock");
    const { stderr, exitCode } = Bun.spawnSync([
      binary,
      "serve",
      "--socket-path",
      socket,
      "--config",
      config,
    ]);
    expect(stderr.toString()).toContain(message);
    expect(exitCode).toBe(64);
  });

  test("with a token that others can read is refused", () => {
    using dir = tempDir();
    const config = join(dir.path, "config.toml");
    writeFileSync(config, '[runtimes.web]\nkind = "http"\nurl = "http://127.0.0.1:1"\ntoken = "hunter2"\n');
    chmodSync(config, 0o644);
    const socket = join(dir.path, "trl.sock");
    const { stderr, exitCode } = Bun.spawnSync([
      binary,
      "serve",
      "--socket-path",
      socket,
      "--config",
      config,
    ]);
    expect(stderr.toString()).toContain("runtimes.web.token: others can read this file");
    expect(stderr.toString()).not.toContain("hunter2");
    expect(exitCode).toBe(64);
  });
});
