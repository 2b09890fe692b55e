// What is known of commands and terminals after their daemon was killed: how they ended, or that they were lost.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { connect } from "../../../src/package/client.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { binary } from "../../support/program.ts";
import { newSession } from "../../support/session.ts";
import { type Successor, startOn } from "../../support/successor.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { newTerminal } from "../../support/terminal.ts";
import { until } from "../../support/wait.ts";
import { Wire } from "../../support/wire.ts";

const journalOf = ({ socketPath }: { socketPath: string }) => socketPath.replace(".sock", ".journal");
const textOf = (daemon: { socketPath: string }) => readFileSync(journalOf(daemon), "utf8");

async function kill(daemon: TestDaemon): Promise<void> {
  daemon.kill("SIGKILL");
  await daemon.exited;
}

/** Waits until the last word on all of these is in the file: it is written behind those who are answered. */
async function untilNoted(daemon: TestDaemon, ended: string[], running: string[] = []): Promise<void> {
  const isNoted = (id: string, isEnd: boolean) =>
    textOf(daemon)
      .split("\n")
      .some((line) => line.includes(`"id":"${id}"`) && line.includes("endedAt") === isEnd);
  await until("the journal", () => {
    if (!existsSync(journalOf(daemon))) return false;
    return ended.every((id) => isNoted(id, true)) && running.every((id) => isNoted(id, false));
  });
}

describe("after a crash", () => {
  let first: TestDaemon;
  let next: Successor;
  let wire: Wire;
  const secrets = [
    "word-in-the-command",
    "word-in-the-output",
    "word-in-the-environment",
    "word-in-the-name",
  ];
  const [ran, streamed, running] = ["x-00000000000000aa", "x-00000000000000bb", "x-00000000000000cc"];
  let journal = "";

  beforeAll(async () => {
    first = await startDaemon();
    using before = await first.connect();
    const env = { SECRET: secrets[2]! };
    const a = await newSession(before, { env, name: secrets[3]! });
    const b = await newSession(before, { env });
    await a.run(`echo word-in-the-"output"; : ${secrets[0]}; exit 7`, { command_id: ran! });
    const stream = {
      session_id: a.id,
      command: "printf 12345; printf 123 >&2; kill -9 $$",
      command_id: streamed!,
    };
    await before.call("exec.stream", stream);
    await before.frame((frame) => frame["type"] === "exit");
    await before.call("exec.stream", {
      session_id: b.id,
      command: "echo begun; sleep 1000",
      command_id: running!,
    });
    await before.frame((frame) => frame["data"] === "begun\n");
    const done = await newTerminal(before, {
      session_id: "done",
      command: "printf 123456; exit 5",
      cols: 90,
    });
    await done.waitForExit();
    await newTerminal(before, { session_id: "desk", driver: "bun-pty" });
    await untilNoted(first, [ran!, streamed!, "done"], [running!, "desk"]);
    await kill(first);
    journal = textOf(first);
    next = await startOn(first.socketPath);
    wire = await next.connect();
  });

  afterAll(async () => {
    wire[Symbol.dispose]();
    await next[Symbol.asyncDispose]();
    expect(existsSync(journalOf(first))).toBeFalse(); // with an orderly end there is nothing to tell
    await first[Symbol.asyncDispose]();
  });

  test("the file holds no command, no output, no name and no value, and is its owner's alone", () => {
    expect(journal).toContain(ran!);
    for (const secret of [...secrets, "sleep", "bash", "printf", first.dir])
      expect(journal).not.toContain(secret);
    expect(statSync(journalOf(first)).mode & 0o777).toBe(0o600);
  });

  test("exec.list has them, as far as they are known", async () => {
    const { streams } = await wire.call("exec.list", { state: "ended" });
    const unknown = { session_name: null, command: "", state: "ended", runtime: "host" };
    expect(streams).toMatchObject([
      { ...unknown, stream_id: ran, kind: "run", exit_code: 7, reason: "exit", stdout_bytes: 19 },
      {
        ...unknown,
        stream_id: streamed,
        kind: "stream",
        exit_code: 137,
        signal: "SIGKILL",
        reason: "signal",
      },
      { ...unknown, stream_id: running, exit_code: 255, signal: null, reason: "lost", stdout_bytes: 0 },
    ]);
    expect((await wire.call("exec.list", { state: "running" })).streams).toEqual([]);
    expect(next.log()).toContain("read the journal of a killed daemon records=5");
  });

  test("exec.wait gives the result without the output, or says that it was lost", async () => {
    const { receipt, duration_ms, ...result } = await wire.call("exec.wait", { stream_id: ran! });
    expect(result).toEqual({
      stdout: "\n[trl: 19 bytes left out]\n",
      stderr: "",
      exit_code: 7,
      timed_out: false,
      signal: null,
      reason: "exit",
      truncated: true,
      stdout_bytes: 19,
      stderr_bytes: 0,
      leftovers: [],
      command_id: ran!,
      working_dir: "",
    });
    expect(receipt).toMatchObject({ bytes_out: 19, measured_by: "process" });
    const failed = await wire.fail("exec.wait", { stream_id: ran, check: true });
    expect(failed).toMatchObject({ code: "COMMAND_FAILED", data: { exit_code: 7 } });
    const lost = await wire.fail("exec.wait", { stream_id: running });
    expect(lost).toMatchObject({
      code: "RUNTIME_UNAVAILABLE",
      message: "lost: the daemon was killed while the command ran",
      data: { may_have_run: true },
    });
  });

  test("exec.attach ends at once, wherever the client stands", async () => {
    const attached = await wire.call("exec.attach", { stream_id: streamed!, stdout_offset: 2 });
    expect(attached).toMatchObject({ state: "ended", stdout_offset: 5, stderr_offset: 3, truncated: true });
    const exit = await wire.frame((frame) => frame["stream_id"] === streamed && frame["type"] === "exit");
    expect(exit).toMatchObject({ exit_code: 137, reason: "signal", stdout_bytes: 5, stderr_bytes: 3 });
    expect((await wire.fail("exec.attach", { stream_id: streamed, stdout_offset: 6 })).code).toBe(
      "INVALID_PARAMS",
    );
    await wire.call("exec.attach", { stream_id: running!, stdout_offset: 4711 });
    const lost = await wire.frame((frame) => frame["stream_id"] === running && frame["type"] === "exit");
    expect(lost).toMatchObject({
      exit_code: 255,
      reason: "lost",
      stdout_bytes: 4711,
      error: { code: "RUNTIME_UNAVAILABLE" },
    });
  });

  test("the other exec methods answer as for any command that has ended", async () => {
    expect(await wire.call("exec.cancel", { stream_id: running! })).toEqual({ cancelled: false });
    expect(await wire.call("exec.detach", { stream_id: ran! })).toEqual({ stream_id: ran!, detached: false });
    expect((await wire.fail("exec.write", { stream_id: ran, data: "" })).message).toContain("is not open");
    const { id } = await newSession(wire);
    const twice = await wire.fail("exec.run", { session_id: id, command: "true", command_id: ran });
    expect(twice.message).toContain(`there is a command ${ran} already`);
    expect((await wire.fail("exec.wait", { stream_id: "x-00000000000000dd" })).code).toBe("STREAM_NOT_FOUND");
  });

  test("terminals have their exit records, and no screen", async () => {
    const { sessions } = await wire.call("pty.list", {});
    expect(sessions).toMatchObject([
      {
        session_id: "done",
        state: "exited",
        exit_code: 5,
        reason: "exit",
        offset: 6,
        cols: 90,
        driver: "native",
      },
      {
        session_id: "desk",
        state: "exited",
        exit_code: 255,
        reason: "lost",
        command: null,
        driver: "bun-pty",
      },
    ]);
    expect(await wire.call("pty.snapshot", { session_id: "done" })).toMatchObject({
      lines: [],
      lost: true,
      offset: 6,
    });
    const waited = await wire.call("pty.wait", { session_id: "desk", until: { text: "never" } });
    expect(waited).toMatchObject({ matched: "exit", screen: { lost: true } });
    expect(await wire.call("pty.close", { session_id: "done" })).toMatchObject({
      state: "terminated",
      exit_code: 5,
    });
    const info = {
      kind: "pty",
      state: "terminated",
      name: null,
      env_keys: [],
      processes: 0,
      runtime: "host",
    };
    for (const session_id of ["done", "desk"]) {
      expect(await wire.call("session.info", { session_id })).toMatchObject({ session_id, ...info });
      expect(await wire.call("session.destroy", { session_id })).toEqual({ session_id, state: "terminated" });
    }
    expect((await wire.fail("pty.write", { session_id: "done", data: "x" })).code).toBe("SESSION_NOT_FOUND");
    expect((await wire.fail("pty.resize", { session_id: "done", cols: 1, rows: 1 })).code).toBe(
      "SESSION_NOT_FOUND",
    );
    expect(await wire.call("pty.subscribe", { session_id: "desk", from: 99 })).toMatchObject({
      offset: 99,
      state: "exited",
    });
    const exit = await wire.frame((frame) => frame["session_id"] === "desk" && frame["type"] === "exit");
    expect(exit).toMatchObject({
      exit_code: 255,
      reason: "lost",
      offset: 99,
      error: { code: "RUNTIME_UNAVAILABLE" },
    });
    await wire.call("pty.subscribe", { session_id: "done", from: 2 });
    await wire.frame((frame) => frame["type"] === "gap" && frame["from"] === 2 && frame["to"] === 6);
    await newTerminal(wire, { session_id: "desk", command: "cat" }); // the name is free
    expect(await wire.call("pty.snapshot", { session_id: "desk" })).not.toHaveProperty("lost");
  });

  test("the command line says so", () => {
    const trl = (...words: string[]) => {
      const { stdout, stderr, exitCode } = Bun.spawnSync([
        binary,
        ...words,
        "--socket-path",
        first.socketPath,
      ]);
      return { out: stdout.toString(), err: stderr.toString(), exitCode };
    };
    expect(trl("ps", "--all").out).toMatch(new RegExp(`${running} .* lost .* -\n`));
    expect(trl("screen", "done")).toMatchObject({ exitCode: 69, err: expect.stringContaining("was killed") });
    expect(trl("logs", streamed!).err).toContain("5 B of stdout are gone");
    expect(trl("logs", "done").err).toContain("6 B of");
  });

  test("the client library tells what is missing", async () => {
    const client = await connect(first.socketPath);
    const missing: number[] = [];
    for await (const chunk of client.follow(streamed!)) missing.push(chunk.missing);
    expect(missing).toEqual([5, 3]);
    await expect(client.follow(running!).exited).rejects.toThrow(
      "the daemon was killed while the command ran",
    );
    await client.close();
  });
});

test("they are known as well after a second crash", async () => {
  await using first = await startDaemon();
  using wire = await first.connect();
  const { run } = await newSession(wire);
  const { command_id } = await run("exit 3");
  await untilNoted(first, [command_id]);
  await kill(first);
  const second = await startOn(first.socketPath);
  await until("it to be noted again", () => textOf(first).includes(`"daemons":[${second.pid}]`));
  expect(textOf(first)).toContain(command_id);
  second.kill("SIGKILL");
  await second.exited;
  await using third = await startOn(first.socketPath);
  using again = await third.connect();
  expect(await again.call("exec.wait", { stream_id: command_id })).toMatchObject({ exit_code: 3 });
});

describe("what lies in its place", () => {
  test.each([
    ["garbage", (path: string) => writeFileSync(path, Buffer.from([0, 255, 10, 123, 10, 91, 93, 10]))],
    ["a link", (path: string) => symlinkSync("/etc/passwd", path)],
    ["a directory", (path: string) => mkdirSync(path)],
    ["a file that is too large", (path: string) => writeFileSync(path, Buffer.alloc(5_000_000))],
  ])("%s does no harm", async (_, make) => {
    await using first = await startDaemon();
    await kill(first);
    make(journalOf(first));
    const passwd = readFileSync("/etc/passwd", "utf8");
    await using next = await startOn(first.socketPath);
    using wire = await next.connect();
    const { run } = await newSession(wire);
    for (let i = 0; i < 3; i++) expect((await run("exit 4")).exit_code).toBe(4);
    expect((await wire.call("exec.list", {})).streams.length).toBe(3);
    expect(readFileSync("/etc/passwd", "utf8")).toBe(passwd);
    expect(next.log().split("the journal cannot be written").length).toBeLessThanOrEqual(2);
  });

  const own = "Dear diary,\n";
  test.each<[what: string, name: string, make: (path: string) => void]>([
    ["a file", "notes.journal", (path) => writeFileSync(path, own)],
    ["JSON lines", "notes.journal", (path) => writeFileSync(path, '{"day":1}\n{"daemons":[1]}\n')],
    ["a link", "notes.journal", (path) => symlinkSync("elsewhere", path)],
    ["a pipe", "notes.journal", (path) => void Bun.spawnSync(["mkfifo", path])],
    ["a directory", "notes.journal", (path) => mkdirSync(path)],
    ["a file where the next one is made", "notes.journal.new", (path) => writeFileSync(path, own)],
  ])("somebody's own, %s: is left as it is, and said in the log", async (_, name, make) => {
    using dir = tempDir();
    const path = join(dir.path, name);
    writeFileSync(join(dir.path, "elsewhere"), own);
    make(path);
    const stat = () => {
      const { ino, size, mode, mtimeMs } = lstatSync(path);
      return { ino, size, mode, mtimeMs };
    };
    const before = stat();
    {
      await using daemon = await startOn(join(dir.path, "notes.sock"));
      using wire = await daemon.connect();
      const { run } = await newSession(wire);
      expect((await run("exit 4")).exit_code).toBe(4);
      await until("the warning", () => daemon.log().includes("the journal cannot be written"));
      expect(stat()).toEqual(before);
    }
    expect(stat()).toEqual(before);
    expect(readFileSync(join(dir.path, "elsewhere"), "utf8")).toBe(own);
    expect(readdirSync(dir.path).sort()).toEqual(["elsewhere", name, "notes.token"].sort());
  });

  test("cut off anywhere, what is whole is read", async () => {
    await using first = await startDaemon();
    using wire = await first.connect();
    const { run } = await newSession(wire);
    const [one, two] = [await run("exit 1"), await run("exit 2")].map(({ command_id }) => command_id);
    await untilNoted(first, [one!, two!]);
    await kill(first);
    const text = textOf(first);
    const end = text.lastIndexOf(`"id":"${two}"`) + 40;
    writeFileSync(journalOf(first), `{"broken\n${text.slice(0, end)}`);
    await using next = await startOn(first.socketPath);
    using again = await next.connect();
    expect(await again.call("exec.wait", { stream_id: one! })).toMatchObject({ exit_code: 1 });
    // Of the other one only the beginning is left.
    expect(await again.fail("exec.wait", { stream_id: two })).toMatchObject({ code: "RUNTIME_UNAVAILABLE" });
  });
});

test("there is none with --journal off, nor after an orderly end", async () => {
  await using daemon = await startDaemon({ flags: ["--journal", "off"] });
  using wire = await daemon.connect();
  const { run } = await newSession(wire);
  const { command_id } = await run("true");
  expect(existsSync(journalOf(daemon))).toBeFalse();
  await kill(daemon);
  await using next = await startOn(daemon.socketPath);
  using again = await next.connect();
  expect((await again.fail("exec.wait", { stream_id: command_id })).code).toBe("STREAM_NOT_FOUND");
});

/** Started by a shell that has prepared something for it. */
async function startBy(preparation: string, dir: string) {
  const socketPath = join(dir, "prepared.sock");
  const start = `${preparation}; exec "$0" serve --socket-path ${socketPath} --allow-root`;
  const child = Bun.spawn(["sh", "-c", start, binary], {
    env: { PATH: process.env["PATH"], TRL_RUNTIME_DIR: dir },
    stdio: ["ignore", "ignore", "pipe"],
  });
  await until("its socket", () => existsSync(socketPath));
  const log = child.stderr.text();
  const wire = await Wire.connect(socketPath);
  return { socketPath, wire, child, log };
}

test.each(["0", "0777"])("a umask of %s changes nothing of who may read it", async (umask) => {
  using dir = tempDir();
  const { socketPath, wire, child } = await startBy(`umask ${umask}`, dir.path);
  await newSession(wire, { stateful: false }).then(({ run }) => run("true"));
  await until("its journal", () => existsSync(journalOf({ socketPath })));
  expect(statSync(journalOf({ socketPath })).mode & 0o777).toBe(0o600);
  wire[Symbol.dispose]();
  child.kill("SIGTERM");
  await child.exited;
  expect(existsSync(journalOf({ socketPath }))).toBeFalse();
});

test("a disk that takes no more is said once, and the commands go on", async () => {
  using dir = tempDir();
  // No file may become larger than 16 KiB.
  const { wire, child, log } = await startBy("trap '' XFSZ; ulimit -f 32", dir.path);
  const { run } = await newSession(wire, { stateful: false, shell: "/bin/sh" });
  for (let i = 0; i < 120; i++) expect((await run(`exit ${i}`)).exit_code).toBe(i);
  wire[Symbol.dispose]();
  child.kill("SIGTERM");
  await child.exited;
  expect((await log).split("the journal cannot be written").length).toBe(2);
});
