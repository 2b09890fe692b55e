// Links that are lost in the middle of something, daemons that are gone, and clients that are slow.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { newCommandId } from "../../../src/client/command-id.ts";
import { type Cuttable, cuttable } from "../../support/cuttable.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { isAlive, residentBytes } from "../../support/processes.ts";
import { newSession, type TestSession } from "../../support/session.ts";
import { follow, sha256 } from "../../support/stream.ts";
import { startOn } from "../../support/successor.ts";
import { newTerminal, Watcher } from "../../support/terminal.ts";
import { until } from "../../support/wait.ts";
import type { Frame, Wire } from "../../support/wire.ts";

/** Text with characters of all lengths and bytes that are none, so that offsets and lengths differ. */
const line = Buffer.concat([
  Buffer.from("zwölf Boxkämpfer 日本語 😀 "),
  Buffer.from([0xff, 0xfe, 0x80, 0x0a]),
]);
const lines = 300_000;
const all = Buffer.alloc(line.length * lines, line);

let far: TestDaemon;
let front: TestDaemon;
let middle: Cuttable;
let wire: Wire;
let session: TestSession;
beforeAll(async () => {
  far = await startDaemon({ flags: ["--max-sessions", "200"] });
  await Bun.write(`${far.dir}/all`, all);
  middle = await cuttable(far.socketPath);
  front = await startDaemon({ flags: ["--runtime", `far=socket:${middle.path}`] });
});
beforeEach(async () => {
  wire = await front.connect();
  session = await newSession(wire, { runtime: "far" });
});
afterEach(() => wire[Symbol.dispose]());
afterAll(async () => {
  await front[Symbol.asyncDispose]();
  await middle[Symbol.asyncDispose]();
  await far[Symbol.asyncDispose]();
});

/** Cuts again and again, whenever so much more has come. */
function cutEvery(bytes: number, times: number): { readonly done: number; stop(): void } {
  let next = middle.bytes + bytes;
  let done = 0;
  const timer = setInterval(() => {
    if (middle.bytes < next || done === times) return;
    next = middle.bytes + bytes;
    done++;
    middle.cut();
  }, 1);
  return {
    get done() {
      return done;
    },
    stop: () => clearInterval(timer),
  };
}

describe("a link that is cut", () => {
  test.each(["base64", "utf8"] as const)(
    "in the middle of a stream loses and doubles nothing (%s)",
    async (encoding) => {
      wire.keepsFrames = false;
      const cuts = cutEvery(all.length / 4, 3);
      const stream_id = newCommandId(); // known before the first frame comes
      const frames: Frame[] = [];
      const hashes = { stdout: new Bun.CryptoHasher("sha256"), stderr: new Bun.CryptoHasher("sha256") };
      wire.onFrame = (frame) => {
        if (frame["stream_id"] !== stream_id || "id" in frame) return;
        if (frame["type"] === "stdout" || frame["type"] === "stderr")
          hashes[frame["type"] as "stdout"].update(Buffer.from(frame["data"], encoding));
        frames.push({ ...frame, data: undefined });
      };
      await wire.call("exec.stream", {
        session_id: session.id,
        command: `cat ${far.dir}/all; cat ${far.dir}/all >&2`,
        command_id: stream_id,
        encoding,
      });
      await until("the exit frame", () => frames.some((frame) => frame["type"] === "exit"));
      cuts.stop();
      expect(cuts.done).toBe(3);
      const expected = sha256(encoding === "base64" ? all : Buffer.from(all.toString("utf8")));
      expect(hashes.stdout.digest("hex")).toBe(expected);
      expect(hashes.stderr.digest("hex")).toBe(expected);
      expect(frames.every((frame) => !("end" in frame))).toBe(true); // nobody asked for a window
      expect(frames.at(-1)).toMatchObject({ type: "exit", exit_code: 0, stdout_bytes: all.length });
    },
  );

  test("in the middle of a terminal loses and doubles nothing, and the shell is the same", async () => {
    const terminal = await newTerminal(wire, { runtime: "far", command: "bash", args: ["--norc"] });
    await terminal.waitFor("$ ");
    const watcher = await Watcher.subscribe(wire, { session_id: terminal.id, from: 0 });
    await wire.call("pty.resize", { session_id: terminal.id, cols: 91, rows: 31 });
    await terminal.type(
      "stty -onlcr; echo $$ pid; for i in $(seq 1 20000); do echo line $i; done; echo do''ne\r",
    );
    await until("some of it", () => watcher.end > 20_000);
    middle.cut();
    await until("more of it", () => watcher.end > 80_000);
    middle.cut();
    await until("the end of it", () => watcher.all.includes("done\n"));
    expect(watcher.isExact).toBe(true);
    const printed = watcher.all.toString();
    const expected = Array.from({ length: 20_000 }, (_, i) => `line ${i + 1}\n`).join("");
    expect(printed).toContain(`${terminal.pid} pid\n${expected}done\n`);
    expect(watcher.frames.filter((frame) => frame["type"] === "gap")).toEqual([]);
    // The new link has said again how large the client's window is, and may type.
    await terminal.type("stty size; echo $$ again\r");
    await until("its answer", () => watcher.all.includes(`31 91\n${terminal.pid} again`));
    await wire.call("pty.close", { session_id: terminal.id });
  });

  test("tells of a size that was changed meanwhile", async () => {
    const terminal = await newTerminal(wire, { runtime: "far", command: "sleep 100" });
    const watcher = await Watcher.subscribe(wire, { session_id: terminal.id });
    middle.shut();
    using direct = await far.connect();
    await direct.call("pty.resize", { session_id: terminal.id, cols: 77, rows: 22 });
    middle.reopen();
    const resize = await until("the size", () => watcher.frames.find((frame) => frame["type"] === "resize"));
    expect(resize).toMatchObject({ cols: 77, rows: 22 });
    await wire.call("pty.close", { session_id: terminal.id });
    expect(await watcher.untilExit()).not.toHaveProperty("error");
  });

  test("does not make a display of who only records", async () => {
    const terminal = await newTerminal(wire, { runtime: "far", command: "cat" });
    const watcher = await Watcher.subscribe(wire, { session_id: terminal.id, from: 0, passive: true });
    middle.cut();
    // What is typed into the cut itself may be lost with it, and is told.
    const typed = { session_id: terminal.id, data: "after the cut\r" };
    await until("it to be typed", async () => (await wire.request("pty.write", typed))["ok"]);
    await until("what came afterwards", () => watcher.all.includes("after the cut\r\nafter the cut\r\n"));
    expect((await terminal.summary()).subscribers).toBe(0);
    await wire.call("pty.unsubscribe", { session_id: terminal.id });
    await wire.call("pty.subscribe", { session_id: terminal.id, from: 0 });
    expect((await terminal.summary()).subscribers).toBe(1);
    await wire.call("pty.close", { session_id: terminal.id });
  });

  test("with a run on its way: the result comes all the same, and it has run once", async () => {
    const mark = `${far.dir}/once`;
    const command = `echo run >>${mark}; cd /usr; sleep 0.5; echo out; echo err >&2; exit 4`;
    const run = wire.request("exec.run", { session_id: session.id, command });
    await until("the command to run", () => Bun.file(mark).exists());
    middle.cut();
    const { ok, data } = await run;
    expect(ok).toBe(true);
    expect(data).toMatchObject({ stdout: "out\n", stderr: "err\n", exit_code: 4, working_dir: "/usr" });
    expect(await Bun.file(mark).text()).toBe("run\n");
  });

  test("before the reply to a stream: it goes on, and it has run once", async () => {
    const mark = `${far.dir}/once-streamed`;
    middle.swallowReplies();
    const started = wire.request("exec.stream", {
      session_id: session.id,
      command: `echo run >>${mark}; echo out`,
    });
    await until("the command to run", () => Bun.file(mark).exists());
    middle.cut();
    const { data } = await started;
    expect(data["session_id"]).toBe(session.id);
    const { stdout, exit } = await follow(wire, data["stream_id"]);
    expect(stdout.bytes).toBe(4);
    expect(exit["exit_code"]).toBe(0);
    expect(await Bun.file(mark).text()).toBe("run\n");
  });

  test("with something on its way that must not be done twice: the client is told", async () => {
    const terminal = await newTerminal(wire, { runtime: "far", command: "cat" });
    middle.swallowReplies();
    const typed = wire.request("pty.write", { session_id: terminal.id, data: "typed once\n" });
    const looked = wire.request("pty.snapshot", { session_id: terminal.id });
    using direct = await far.connect();
    await direct.call("pty.wait", { session_id: terminal.id, until: { text: "typed once" }, timeout_s: 10 });
    middle.cut();
    expect((await typed)["error"]).toMatchObject({
      code: "RUNTIME_UNAVAILABLE",
      data: { runtime: "far", may_have_run: true, reason: expect.any(String), since: expect.any(String) },
    });
    // What only looks is asked again.
    expect((await looked)["data"].lines.join("\n")).toContain("typed once");
    await wire.call("pty.close", { session_id: terminal.id });
  });

  test("while a request waits for it to come back, that one is sent then", async () => {
    middle.shut();
    const run = session.run("echo back");
    await Bun.sleep(50);
    middle.reopen();
    expect((await run).stdout).toBe("back\n");
  });
});

describe("a daemon that is gone", () => {
  test("for good: who follows is told, the rest lives, and a new one there begins anew", async () => {
    const other = await startDaemon();
    using its = await front.connect();
    await its.call("runtime.add", { name: "mortal", kind: "socket", path: other.socketPath });
    const there = await newSession(its, { runtime: "mortal" });
    const terminal = await newTerminal(its, { runtime: "mortal", command: "sleep 1000" });
    const watcher = await Watcher.subscribe(its, { session_id: terminal.id });
    const { stream_id } = await its.call("exec.stream", {
      session_id: there.id,
      command: "echo begun; sleep 1000",
    });
    await its.frame((frame) => frame["data"] === "begun\n");
    const running = its.request("exec.wait", { stream_id });
    other.kill("SIGKILL");
    await other.exited;
    const exit = await its.frame((frame) => frame["stream_id"] === stream_id && frame["type"] === "exit");
    const unavailable = { code: "RUNTIME_UNAVAILABLE", data: { runtime: "mortal" } };
    expect(exit).toMatchObject({ exit_code: 255, reason: "lost", stdout_bytes: 6, error: unavailable });
    expect(await watcher.untilExit()).toMatchObject({ exit_code: 255, reason: "lost", error: unavailable });
    expect((await running)["error"]).toMatchObject(unavailable);
    expect(await its.fail("exec.run", { session_id: there.id, command: "true" })).toMatchObject(unavailable);
    expect(await session.out("echo alive")).toBe("alive");
    const { sessions, unavailable: named } = await its.call("session.list", {});
    expect(sessions.some(({ session_id }) => session_id === session.id)).toBe(true);
    expect(named).toMatchObject([{ runtime: "mortal" }]);
    await its.call("runtime.remove", { name: "mortal", force: true });
    await other[Symbol.asyncDispose]();
  });

  test("and another in its stead: what was lost there names the runtime, not the host", async () => {
    const other = await startDaemon();
    using its = await front.connect();
    await its.call("runtime.add", {
      name: "crashed",
      kind: "socket",
      path: other.socketPath,
      patience_s: 30,
    });
    const there = await newSession(its, { runtime: "crashed" });
    const terminal = await newTerminal(its, { runtime: "crashed", command: "sleep 1000" });
    const watcher = await Watcher.subscribe(its, { session_id: terminal.id });
    const { stream_id } = await its.call("exec.stream", { session_id: there.id, command: "sleep 1000" });
    const journal = other.socketPath.replace(".sock", ".journal");
    const isNoted = (id: string) => existsSync(journal) && readFileSync(journal, "utf8").includes(`"${id}"`);
    await until("both to be noted", () => [stream_id, terminal.id].every(isNoted));
    other.kill("SIGKILL");
    await other.exited;
    await using _next = await startOn(other.socketPath);
    const error = { code: "RUNTIME_UNAVAILABLE", data: { runtime: "crashed", may_have_run: true } };
    const exit = await its.frame((frame) => frame["stream_id"] === stream_id && frame["type"] === "exit");
    expect(exit).toMatchObject({ reason: "lost", error });
    expect(await watcher.untilExit()).toMatchObject({ reason: "lost", error });
    expect(await its.fail("exec.wait", { stream_id })).toMatchObject(error);
    await its.call("exec.attach", { stream_id });
    const again = await its.frame(
      (frame) => frame["type"] === "exit" && frame !== exit && frame["stream_id"] === stream_id,
    );
    expect(again).toMatchObject({ reason: "lost", error });
    await its.call("runtime.remove", { name: "crashed", force: true });
    await other[Symbol.asyncDispose]();
  });

  test("the process itself: a new one is started for the next session, which knows nothing of the old", async () => {
    using its = await front.connect();
    const { binary } = await import("../../support/program.ts");
    await its.call("runtime.add", { name: "own", kind: "command", argv: [binary, "--stdin"] });
    const first = await newSession(its, { runtime: "own" });
    const daemon = Number(await first.out("echo ${TRL_DAEMON%%:*}"));
    const { stream_id } = await its.call("exec.stream", { session_id: first.id, command: "sleep 1000" });
    process.kill(daemon, "SIGKILL");
    const exit = await its.frame((frame) => frame["stream_id"] === stream_id && frame["type"] === "exit");
    expect(exit).toMatchObject({ reason: "lost", error: { code: "RUNTIME_UNAVAILABLE" } });
    expect((await its.fail("session.info", { session_id: first.id })).code).toBe("SESSION_NOT_FOUND");
    const second = await newSession(its, { runtime: "own" });
    expect(Number(await second.out("echo ${TRL_DAEMON%%:*}"))).not.toBe(daemon);
    await its.call("runtime.remove", { name: "own", force: true });
  });

  test("and started anew: what was followed is lost, and does not wait for ever", async () => {
    await using other = await startDaemon();
    await using gate = await cuttable(other.socketPath);
    using its = await front.connect();
    await its.call("runtime.add", { name: "reborn", kind: "socket", path: gate.path, patience_s: 30 });
    const there = await newSession(its, { runtime: "reborn" });
    const { stream_id } = await its.call("exec.stream", { session_id: there.id, command: "sleep 1000" });
    // As seen from the front, the daemon behind the gate has forgotten everything.
    gate.shut();
    using direct = await other.connect();
    await direct.call("session.destroy", { session_id: there.id, force: true });
    for (let i = 0; i < 300; i++) {
      using another = await other.connect(); // what one connection has kept makes room for its own alone
      const { session_id } = await another.call("session.create", { init: "true" });
      await another.call("session.destroy", { session_id });
      const { streams } = await direct.call("exec.list", {});
      if (!streams.some((it) => it.stream_id === stream_id)) break;
    }
    gate.reopen();
    const exit = await its.frame((frame) => frame["stream_id"] === stream_id && frame["type"] === "exit");
    expect(exit).toMatchObject({ reason: "lost", error: { code: "RUNTIME_UNAVAILABLE" } });
    await its.call("runtime.remove", { name: "reborn", force: true });
  });

  test("links that are lost again at once are given up, too, and do not keep the daemon busy", async () => {
    await using other = await startDaemon();
    await using gate = await cuttable(other.socketPath);
    using its = await front.connect();
    await its.call("runtime.add", { name: "shaky", kind: "socket", path: gate.path, patience_s: 1.5 });
    const there = await newSession(its, { runtime: "shaky" });
    const { stream_id } = await its.call("exec.stream", { session_id: there.id, command: "sleep 1000" });
    const before = gate.total;
    gate.cutAt("exec.attach");
    gate.cut();
    const exit = await its.frame((frame) => frame["stream_id"] === stream_id && frame["type"] === "exit");
    expect(exit).toMatchObject({ reason: "lost", error: { data: { may_have_run: true } } });
    expect(gate.total - before).toBeLessThan(20);
    await its.call("runtime.remove", { name: "shaky", force: true });
  });

  test("a runtime that says nothing keeps no list waiting", async () => {
    await using other = await startDaemon();
    await using gate = await cuttable(other.socketPath);
    using its = await front.connect();
    await its.call("runtime.add", { name: "mute", kind: "socket", path: gate.path });
    await newSession(its, { runtime: "mute" });
    gate.fallSilent();
    const { sessions, unavailable } = await its.call("session.list", {});
    expect(sessions.some(({ session_id }) => session_id === session.id)).toBe(true);
    expect(sessions.every(({ runtime }) => runtime !== "mute")).toBe(true);
    expect(unavailable).toMatchObject([{ runtime: "mute", reason: "it does not answer" }]);
    // The next ones are told at once.
    const asked = performance.now();
    for (const method of ["session.list", "pty.list", "exec.list"] as const)
      expect((await its.call(method, {})).unavailable).toEqual(unavailable!);
    const { runtimes } = await its.call("runtime.list", {});
    expect(runtimes.find(({ name }) => name === "mute")).toMatchObject({
      state: "unavailable",
      since: unavailable![0]!.since,
    });
    expect(await its.fail("session.info", { session_id: "s-00000000" })).toMatchObject({
      code: "SESSION_NOT_FOUND",
      message: "there is no session s-00000000; mute could not be asked",
      data: { unavailable },
    });
    expect(performance.now() - asked).toBeLessThan(4000); // not two seconds each
    await its.call("runtime.remove", { name: "mute", force: true });
  });
});

describe("a slow client", () => {
  test("holds back the command there, and not the memory here", async () => {
    const slow = await front.connect();
    slow.keepsFrames = false;
    const { stream_id } = await slow.call("exec.stream", {
      session_id: session.id,
      command: `for i in 1 2 3 4 5 6 7 8 9 10; do cat ${far.dir}/all; done`,
      encoding: "base64",
      stall_timeout_s: 0,
    });
    const followed = follow(slow, stream_id, "base64");
    slow.pause();
    const before = residentBytes(front.pid);
    const printed = async () =>
      (await wire.call("exec.list", {})).streams.find((it) => it.stream_id === stream_id)!.stdout_bytes;
    let last = -1;
    await until("the command to be held back", async () => {
      const now = await printed();
      const isSame = now === last && now > 0;
      last = now;
      if (!isSame) await Bun.sleep(200);
      return isSame;
    });
    expect(last).toBeLessThan(all.length * 5);
    expect(residentBytes(front.pid) - before).toBeLessThan(48 * 1024 * 1024);
    slow.resume();
    const { stdout } = await followed;
    expect(stdout.bytes).toBe(all.length * 10);
    expect(stdout.hash).toBe(sha256(Buffer.concat(Array(10).fill(all))));
    slow[Symbol.dispose]();
  });

  test("that takes nothing is let go as it would be there", async () => {
    const slow = await front.connect();
    slow.keepsFrames = false;
    const { stream_id } = await slow.call("exec.stream", {
      session_id: session.id,
      command: "yes | head -c 50000000",
      stall_timeout_s: 0.5,
    });
    slow.pause();
    await until("the command to end without it", async () =>
      (await wire.call("exec.list", {})).streams.some(
        (it) => it.stream_id === stream_id && it.state === "ended",
      ),
    );
    let lagged: Frame | undefined;
    let bytes = 0;
    slow.onFrame = (frame) => {
      if (frame["type"] === "stdout") bytes += frame["data"].length;
      if (frame["type"] === "lagged") lagged = frame;
    };
    slow.resume();
    const { stdout_offset } = await until("to be told", () => lagged);
    expect(stdout_offset).toBeGreaterThan(0);
    slow[Symbol.dispose]();
    expect(bytes).toBeLessThanOrEqual(stdout_offset);
  });

  test("with a window of its own gets no more than that, and `end` tells how far it has come", async () => {
    const window_bytes = 65_536;
    const frames: Frame[] = [];
    wire.onFrame = (frame) => {
      if (frame["type"] === "stdout") frames.push(frame);
    };
    wire.keepsFrames = false;
    const { stream_id } = await wire.call("exec.stream", {
      session_id: session.id,
      command: `head -c 1000000 ${far.dir}/all`,
      window_bytes,
    });
    const end = () => frames.at(-1)?.["end"] ?? 0;
    let isOver = false;
    const over = wire
      .frame((frame) => frame["type"] === "exit")
      .then(() => {
        isOver = true;
      });
    let taken = 0;
    while (!isOver) {
      await until("more", () => end() > taken || isOver);
      expect(end() - taken).toBeLessThanOrEqual(window_bytes + 16); // what is left of a character
      taken = end();
      await wire.call("exec.ack", { stream_id, stdout_offset: taken });
    }
    await over;
    expect(end()).toBe(1_000_000);
    for (const [i, frame] of frames.entries()) expect(frame["offset"]).toBe(frames[i - 1]?.["end"] ?? 0);
  });

  test("that has gone leaves no link behind that somebody else would get its frames by", async () => {
    const gone = await front.connect();
    const its = await newSession(gone, { runtime: "far" });
    await gone.call("exec.stream", { session_id: its.id, command: "yes" });
    gone[Symbol.dispose]();
    using next = await front.connect();
    expect(await next.call("session.info", { session_id: its.id })).toMatchObject({ state: "running" });
    await next.call("session.destroy", { session_id: its.id, force: true });
    expect(next.frames.filter((frame) => "type" in frame)).toEqual([]);
  });
});

test("when the daemon in front ends, what lives elsewhere lives on", async () => {
  const passing = await startDaemon({ flags: ["--runtime", `far=socket:${far.socketPath}`] });
  using its = await passing.connect();
  const there = await newSession(its, { runtime: "far" });
  const pid = Number((await there.run("sleep 300 & echo $!")).stdout);
  await passing[Symbol.asyncDispose]();
  expect(isAlive(pid)).toBe(true);
  await using next = await startDaemon({ flags: ["--runtime", `far=socket:${far.socketPath}`] });
  using again = await next.connect();
  expect(await again.call("session.info", { session_id: there.id })).toMatchObject({ runtime: "far" });
  await again.call("session.destroy", { session_id: there.id });
  expect(isAlive(pid)).toBe(false);
});
