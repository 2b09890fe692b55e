// One door to several daemons: ids route by themselves, for every method, both dialects and every way in.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startDaemon } from "../../support/daemon.ts";
import { framesOf, type HttpDaemon, startHttp } from "../../support/http.ts";
import { isAlive } from "../../support/processes.ts";
import { binary } from "../../support/program.ts";
import { newSession } from "../../support/session.ts";
import { newTerminal, Watcher } from "../../support/terminal.ts";
import { until } from "../../support/wait.ts";
import type { Frame, Wire } from "../../support/wire.ts";

let far: HttpDaemon;
let front: HttpDaemon;
let wire: Wire;
/** Each reaches the same daemon, in its own way; the last one is a daemon of its own. */
const runtimes = ["by-socket", "by-http", "by-bridge", "own"];
const sharedRuntimes = runtimes.slice(0, 3);

beforeAll(async () => {
  far = await startHttp({ flags: ["--max-sessions", "300"] });
  const config = join(far.dir, "front.toml");
  const bridge = [binary, "dial-stdio", "--no-start", "--socket-path", far.socketPath];
  writeFileSync(
    config,
    `[runtimes.by-socket]
kind = "socket"
path = ${JSON.stringify(far.socketPath)}
[runtimes.by-http]
kind = "http"
url = ${JSON.stringify(far.url)}
token_file = ${JSON.stringify(join(far.dir, "trl.token"))}
[runtimes.by-bridge]
kind = "command"
argv = ${JSON.stringify(bridge)}
[runtimes.own]
kind = "command"
argv = ${JSON.stringify([binary, "--stdin"])}
`,
  );
  front = await startHttp({ flags: ["--config", config] });
  wire = await front.connect();
});
afterAll(async () => {
  wire[Symbol.dispose]();
  await front[Symbol.asyncDispose]();
  await far[Symbol.asyncDispose]();
});

describe.each(runtimes)("in %s", (runtime) => {
  test("a session, its commands and its end", async () => {
    const session = await newSession(wire, { runtime, name: `name-${runtime}` });
    expect(await session.out("cd /usr; x=5; pwd")).toBe("/usr");
    expect(await session.out("echo $PWD $x; sleep 100 & true")).toBe("/usr 5");
    expect(await wire.call("session.info", { session_id: session.id })).toMatchObject({
      runtime,
      name: `name-${runtime}`,
      working_dir: "/usr",
    });
    const listed = (await wire.call("session.list", { runtime })).sessions;
    expect(listed.map((it) => [it.session_id, it.runtime])).toContainEqual([session.id, runtime]);
    expect((await wire.call("session.list", { runtime: "host" })).sessions).toEqual([]);
    const { leftovers } = await session.run("sleep 100 & sleep 0.01");
    expect(isAlive(leftovers[0]!.pid)).toBe(true);
    await wire.call("session.destroy", { session_id: session.id });
    expect(isAlive(leftovers[0]!.pid)).toBe(false);
    expect((await wire.fail("exec.run", { session_id: session.id, command: "true" })).code).toBe(
      "SESSION_NOT_FOUND",
    );
  });

  test("a stream, its input, its end, and the way back to it", async () => {
    const session = await newSession(wire, { runtime });
    const { stream_id } = await wire.call("exec.stream", {
      session_id: session.id,
      command: "read line; sleep 100 & echo got $line; wait",
      open_stdin: true,
    });
    expect((await wire.fail("exec.run", { session_id: session.id, command: "true" })).code).toBe(
      "SESSION_BUSY",
    );
    await wire.call("exec.write", { stream_id, data: "this\n" });
    await wire.frame((frame) => frame["stream_id"] === stream_id && frame["data"] === "got this\n");
    const { streams } = await wire.call("exec.list", {});
    expect(streams.find((it) => it.stream_id === stream_id)).toMatchObject({ runtime, state: "running" });
    expect(await wire.call("exec.cancel", { session_id: session.id })).toEqual({
      cancelled: true,
      signal: "SIGTERM",
    });
    const exit = await wire.frame((frame) => frame["stream_id"] === stream_id && frame["type"] === "exit");
    expect(exit).toMatchObject({ reason: "cancelled", signal: "SIGTERM" });
    using other = await front.connect();
    await other.call("exec.attach", { stream_id, stdout_offset: 4 });
    expect(await other.frame((frame) => frame["type"] === "stdout")).toMatchObject({
      data: "this\n",
      offset: 4,
    });
    await other.frame((frame) => frame["type"] === "exit");
    expect(await other.call("exec.cancel", { stream_id })).toEqual({ cancelled: false });
    expect(await other.call("exec.wait", { stream_id })).toMatchObject({ stdout: "got this\n" });
    await wire.call("session.destroy", { session_id: session.id });
  });

  test("a terminal", async () => {
    const terminal = await newTerminal(wire, { runtime, command: "cat", cols: 40, rows: 5 });
    expect(terminal.runtime).toBe(runtime);
    const watcher = await Watcher.subscribe(wire, { session_id: terminal.id });
    await terminal.type("hello\r");
    await terminal.waitFor("hello");
    await until("the bytes", () => watcher.all.toString() === "hello\r\nhello\r\n");
    expect((await terminal.snapshot()).lines?.slice(0, 2)).toEqual(["hello", "hello"]);
    expect(await wire.call("pty.resize", { session_id: terminal.id, cols: 50, rows: 6 })).toMatchObject({
      applied: true,
    });
    expect((await terminal.summary()).runtime).toBe(runtime);
    expect(await wire.call("pty.unsubscribe", { session_id: terminal.id })).toMatchObject({
      unsubscribed: true,
    });
    expect(await wire.call("pty.close", { session_id: terminal.id })).toMatchObject({ state: "terminated" });
    expect(isAlive(terminal.pid)).toBe(false);
    expect(
      (await wire.call("pty.list", {})).sessions.find((it) => it.session_id === terminal.id),
    ).toMatchObject({
      state: "exited",
    });
  });

  test("what goes wrong there is told in the same words", async () => {
    using direct = await far.connect();
    const there = await newSession(wire, { runtime });
    const here = await newSession(direct);
    const requests: [string, object][] = [
      ["exec.run", { command: "exit 3", check: true }],
      ["exec.run", { command: 5 }],
      ["exec.run", { command: "true", working_dir: "/nonexistent" }],
      ["exec.run", { command: "true", command_id: "x" }],
      ["exec.stream", { command: "true", window_bytes: 5 }],
      ["exec.stream", { command: "true", encoding: "latin1" }],
      ["pty.write", { data: "x" }],
      ["pty.subscribe", { from: 5 }],
      ["pty.snapshot", {}],
    ];
    const timings = /"duration_ms":\d+|"cpu_ms":[\d.]+|x-[0-9a-f]{8}/g;
    for (const [method, params] of requests) {
      const error = async (its: Wire, session_id: string) => {
        const told = await its.fail(method, { session_id, ...params });
        return JSON.stringify(told).replaceAll(session_id, "ID").replaceAll(timings, "");
      };
      expect(await error(wire, there.id)).toBe(await error(direct, here.id));
    }
    expect(await wire.fail("session.create", { runtime, shell: "/nonexistent" })).toEqual(
      await direct.fail("session.create", { shell: "/nonexistent" }),
    );
    await wire.call("session.destroy", { session_id: there.id });
    await direct.call("session.destroy", { session_id: here.id });
  });
});

test("a daemon with several names is listed once", async () => {
  const session = await newSession(wire, { runtime: "by-http" });
  const { sessions } = await wire.call("session.list", {});
  expect(sessions.filter((it) => it.session_id === session.id).map((it) => it.runtime)).toEqual(["by-http"]);
  await wire.call("session.destroy", { session_id: session.id });
});

test("lists show those of the host, and all others, each with its runtime", async () => {
  const ids = new Map<string, string>();
  for (const runtime of ["host", ...runtimes]) ids.set((await newSession(wire, { runtime })).id, runtime);
  using fresh = await front.connect();
  const { sessions, unavailable } = await fresh.call("session.list", {});
  expect(unavailable).toBeUndefined();
  for (const [id, runtime] of ids)
    expect(sessions.find((it) => it.session_id === id)).toMatchObject({ runtime });
  expect(sessions[0]).toMatchObject({ runtime: "host" });
  for (const id of ids.keys()) await fresh.call("session.destroy", { session_id: id });
});

test("lists of those in one state leave out the others, wherever they are", async () => {
  const there = await newSession(wire, { runtime: "by-socket" });
  const { command_id } = await there.run("true");
  const { stream_id } = await wire.call("exec.stream", { session_id: there.id, command: "sleep 100" });
  const streams = async (params: object) => {
    const listed = (await wire.call("exec.list", params)).streams;
    return listed.filter((it) => it.session_id === there.id).map((it) => it.stream_id);
  };
  expect(await streams({})).toEqual([command_id, stream_id]);
  expect(await streams({ state: "running" })).toEqual([stream_id]);
  expect(await streams({ state: "ended", runtime: "by-socket" })).toEqual([command_id]);
  expect((await wire.fail("exec.list", { state: "over", runtime: "by-socket" })).code).toBe("INVALID_PARAMS");
  const terminal = await newTerminal(wire, { runtime: "by-socket", command: "cat" });
  const terminals = async (state: "running" | "exited") =>
    (await wire.call("pty.list", { state })).sessions.some((it) => it.session_id === terminal.id);
  expect([await terminals("running"), await terminals("exited")]).toEqual([true, false]);
  await wire.call("session.destroy", { session_id: there.id, force: true });
  await wire.call("pty.close", { session_id: terminal.id });
  expect([await terminals("running"), await terminals("exited")]).toEqual([false, true]);
});

test("a daemon in front that was started anew finds what lives elsewhere", async () => {
  using direct = await far.connect();
  const session = await newSession(direct, { name: "old" });
  const terminal = await newTerminal(direct, { command: "cat", session_id: "old-terminal" });
  const { command_id } = await session.run("echo kept");
  await using fresh = await startDaemon({ flags: ["--runtime", `far=socket:${far.socketPath}`] });
  using its = await fresh.connect();
  // Each on its own, so that none is found by another's search.
  const wanted: [string, object][] = [
    ["exec.wait", { stream_id: command_id }],
    ["pty.snapshot", { session_id: terminal.id }],
    ["exec.run", { session_id: session.id, command: "echo there" }],
  ];
  for (const [method, params] of wanted) expect((await its.request(method, params))["ok"]).toBe(true);
  expect((await its.fail("exec.attach", { stream_id: "x-00000000" })).code).toBe("STREAM_NOT_FOUND");
  await direct.call("session.destroy", { session_id: session.id });
  await direct.call("pty.close", { session_id: terminal.id });
});

test("an id that is chosen is taken once, wherever it lives", async () => {
  await newTerminal(wire, { runtime: "by-socket", session_id: "desk", command: "cat" });
  for (const runtime of ["host", "own", "by-socket"])
    expect(await wire.fail("pty.create", { runtime, session_id: "desk" })).toMatchObject({
      code: "INVALID_PARAMS",
      message: "session_id: desk is in use",
    });
  await wire.call("pty.close", { session_id: "desk" });
  // One that has ended may be used again, also elsewhere.
  const again = await newTerminal(wire, { session_id: "desk", command: "cat" });
  expect(again.runtime).toBe("host");
  await again.type("here\r");
  await again.waitFor("here");
  await wire.call("pty.close", { session_id: "desk" });
});

test("two daemons that know each other do not ask each other for ever", async () => {
  await using one = await startDaemon();
  await using two = await startDaemon({ flags: ["--runtime", `one=socket:${one.socketPath}`] });
  using its = await one.connect();
  await its.call("runtime.add", { name: "two", kind: "socket", path: two.socketPath });
  await its.call("runtime.add", { name: "self", kind: "socket", path: one.socketPath });
  const session = await newSession(its, { runtime: "two" });
  const own = await newSession(its);
  const { sessions } = await its.call("session.list", {});
  expect(sessions.map((it) => [it.session_id, it.runtime]).sort()).toEqual(
    [
      [session.id, "two"],
      [own.id, "host"],
    ].sort(),
  );
  expect((await its.fail("session.info", { session_id: "s-00000000" })).code).toBe("SESSION_NOT_FOUND");
  expect(await session.out("echo fine")).toBe("fine");
});

describe("another client", () => {
  test.each(sharedRuntimes)("follows the same, at its own pace, in %s", async (runtime) => {
    using other = await front.connect();
    const session = await newSession(wire, { runtime });
    const terminal = await newTerminal(wire, { runtime, command: "cat" });
    const { stream_id } = await wire.call("exec.stream", {
      session_id: session.id,
      command: "echo one; read go; echo two",
      open_stdin: true,
    });
    await wire.frame((frame) => frame["stream_id"] === stream_id && frame["data"] === "one\n");
    await other.call("exec.attach", { stream_id, stdout_offset: 1 });
    await other.call("exec.attach", { stream_id }); // and once more
    await wire.call("exec.write", { stream_id, data: "\n" });
    const first = await Watcher.subscribe(wire, { session_id: terminal.id, from: 0 });
    const second = await Watcher.subscribe(other, { session_id: terminal.id, from: 0 });
    await terminal.type("seen by both\r");
    for (const watcher of [first, second])
      await until("both to see it", () => watcher.all.toString() === "seen by both\r\nseen by both\r\n");
    const endsOf = (its: Wire) =>
      its.frames.filter((frame) => frame["stream_id"] === stream_id && frame["type"] === "exit").length;
    await until("the ends", () => endsOf(wire) === 1 && endsOf(other) === 2);
    const text = (its: Wire) =>
      its.frames
        .filter((frame) => frame["stream_id"] === stream_id && frame["type"] === "stdout")
        .map((frame) => [frame["offset"], frame["data"]]);
    expect(text(wire)).toEqual([
      [0, "one\n"],
      [4, "two\n"],
    ]);
    expect(text(other).sort()).toEqual([
      [0, "one\n"],
      [1, "ne\n"],
      [4, "two\n"],
      [4, "two\n"],
    ]);
    await wire.call("pty.close", { session_id: terminal.id });
  });

  test("of a runtime that is one process is told that it cannot follow as well", async () => {
    using other = await front.connect();
    const session = await newSession(wire, { runtime: "own" });
    const { stream_id } = await wire.call("exec.stream", { session_id: session.id, command: "sleep 100" });
    expect((await other.fail("exec.attach", { stream_id })).code).toBe("UNSUPPORTED");
    expect(await other.call("exec.cancel", { stream_id })).toMatchObject({ cancelled: true });
    await wire.frame((frame) => frame["stream_id"] === stream_id && frame["type"] === "exit");
    await other.call("exec.attach", { stream_id });
    await other.frame((frame) => frame["type"] === "exit");
  });

  test("decides the size when it types, as it would there", async () => {
    using other = await front.connect();
    const terminal = await newTerminal(wire, { runtime: "by-socket", command: "cat", cols: 80, rows: 24 });
    const resize = (its: Wire, cols: number) =>
      its.call("pty.resize", { session_id: terminal.id, cols, rows: 20 }).then(({ applied }) => applied);
    await wire.call("pty.write", { session_id: terminal.id, data: "a" });
    expect(await resize(wire, 70)).toBe(true);
    expect(await resize(other, 60)).toBe(false);
    await other.call("pty.write", { session_id: terminal.id, data: "b" });
    expect((await terminal.summary()).cols).toBe(60);
    await wire.call("pty.close", { session_id: terminal.id });
  });
});

describe("by HTTP", () => {
  test("each POST finds its way, on links that are kept", async () => {
    const { session_id } = await front.call("session.create", { runtime: "by-socket" });
    expect((await front.call("exec.run", { session_id, command: "cd /usr" })).exit_code).toBe(0);
    const before = (await far.call("system.stats", {})).connections_total;
    for (let i = 0; i < 20; i++) await front.call("exec.run", { session_id, command: "pwd" });
    expect((await far.call("system.stats", {})).connections_total - before).toBeLessThan(5);
    const response = await front.post({
      id: 1,
      method: "exec.stream",
      params: { session_id, command: "for i in 1 2 3; do echo $i; done; yes | head -c 3000000" },
    });
    const frames: Frame[] = await Array.fromAsync(framesOf(response));
    expect(frames.at(-1)).toMatchObject({ type: "exit", exit_code: 0, stdout_bytes: 3_000_006 });
    const text = frames.filter((frame) => frame["type"] === "stdout").map((frame) => frame["data"]);
    expect(text.join("")).toBe(`1\n2\n3\n${"y\n".repeat(1_500_000)}`);
    const missing = await front.post({ id: 2, method: "session.create", params: { runtime: "moon" } });
    expect(missing.status).toBe(404);
    await front.call("session.destroy", { session_id });
  });
});

describe("in the frontend dialect", () => {
  test("terminals elsewhere are like those that are here", async () => {
    using its = await front.connect();
    const token = readFileSync(join(front.dir, "trl.token"), "utf8").trim();
    const said = (type: string) => its.frame((frame) => frame["type"] === type);
    its.sendFrame({ type: "Auth", token });
    expect(await said("AuthResult")).toMatchObject({ ok: true });
    its.sendFrame({ type: "CreateSession", id: "tab", shell: "/bin/sh", cwd: "/usr", runtime: "by-socket" });
    const { pid } = await said("SessionCreated");
    its.sendFrame({ type: "Subscribe", session_id: "tab" });
    its.sendFrame({ type: "WriteInput", session_id: "tab", data: "pwd; stty size\r" });
    its.sendFrame({ type: "Resize", session_id: "tab", cols: 66, rows: 11 });
    its.sendFrame({ type: "WriteInput", session_id: "tab", data: "stty size\r" });
    const shown = () =>
      its.frames
        .filter((frame) => frame["type"] === "SessionOutput")
        .map((frame) => Buffer.from(frame["data"], "base64").toString())
        .join("");
    // Output that is older than the subscription comes as a redraw, in which rows end by cursor movement.
    await until("its output", () => shown().includes("/usr") && shown().includes("11 66"));
    its.sendFrame({ type: "ListSessions" });
    const { sessions } = await said("SessionList");
    expect(sessions.find((it: Frame) => it["id"] === "tab")).toMatchObject({ pid, runtime: "by-socket" });
    // The other dialect sees it, too.
    expect((await wire.call("pty.list", {})).sessions.some((it) => it.session_id === "tab")).toBe(true);
    its.sendFrame({ type: "CloseSession", session_id: "tab" });
    expect(await said("SessionClosed")).toMatchObject({ session_id: "tab" });
    expect(isAlive(pid)).toBe(false);
    its.sendFrame({ type: "WriteInput", session_id: "tab", data: "x" });
    expect((await said("Error"))["message"]).toContain("tab");
    its.sendFrame({ type: "CreateSession", runtime: "moon" });
    const told = await its.frame((it) => it["type"] === "Error" && it["message"].includes("moon"));
    expect(told["message"]).toContain('there is no "moon"');
    expect(its.frames.filter((frame) => frame["type"] === "SessionClosed")).toHaveLength(1);
  });

  test("the end of one elsewhere is told when everything that its program started is dead", async () => {
    using its = await front.connect();
    const token = readFileSync(join(front.dir, "trl.token"), "utf8").trim();
    its.sendFrame({ type: "Auth", token });
    const stubborn = "(trap '' HUP TERM; echo pid $(exec sh -c 'echo $PPID') end; exec sleep 1000) &";
    const command = `${stubborn} read line; exit 5`;
    await its.call("pty.create", { session_id: "tab-3", shell: "/bin/sh", command, runtime: "by-socket" });
    its.sendFrame({ type: "Subscribe", session_id: "tab-3" });
    const shown = () =>
      its.frames
        .filter((frame) => frame["type"] === "SessionOutput")
        .map((frame) => Buffer.from(frame["data"], "base64").toString())
        .join("");
    const pid = Number((await until("its output", () => /pid (\d+) end/.exec(shown())))[1]);
    const closed = its.frame((frame) => frame["type"] === "SessionClosed");
    its.sendFrame({ type: "WriteInput", session_id: "tab-3", data: "\r" });
    expect(await closed.then((frame) => ({ code: frame["exit_code"], isAlive: isAlive(pid) }))).toEqual({
      code: 5,
      isAlive: false,
    });
  });

  test("a terminal elsewhere does not begin in the home that is here", async () => {
    using its = await front.connect();
    const token = readFileSync(join(front.dir, "trl.token"), "utf8").trim();
    its.sendFrame({ type: "Auth", token });
    its.sendFrame({ type: "CreateSession", id: "tab-0", runtime: "by-socket" });
    await its.frame((frame) => frame["type"] === "SessionCreated");
    const { sessions } = await its.call("pty.list", {});
    expect(sessions.find(({ session_id }) => session_id === "tab-0")!.working_dir).toBe("/tmp");
    await its.call("pty.close", { session_id: "tab-0" });
  });

  test("who does not watch it is answered when it is closed", async () => {
    using its = await front.connect();
    const token = readFileSync(join(front.dir, "trl.token"), "utf8").trim();
    its.sendFrame({ type: "auth", token });
    its.sendFrame({ type: "create_session", sessionId: "x", id: "tab-2", runtime: "own" });
    await its.frame((frame) => frame["type"] === "session_created");
    its.sendFrame({ type: "close_session", sessionId: "tab-2" });
    expect(await its.frame((frame) => frame["type"] === "session_closed")).toMatchObject({
      sessionId: "tab-2",
    });
  });
});
