// `trl dial-stdio`: the bridge between a pair of pipes and the daemon's socket.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startDaemon } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { isAlive, processesWith, residentBytes } from "../../support/processes.ts";
import { binary } from "../../support/program.ts";
import { sha256 } from "../../support/stream.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { until } from "../../support/wait.ts";
import type { Frame } from "../../support/wire.ts";
import { Wire } from "../../support/wire.ts";

const env = {
  PATH: process.env["PATH"],
  TRL_RUNTIME_DIR: process.env["TRL_RUNTIME_DIR"],
  HOME: process.env["HOME"],
  LANG: "C.UTF-8",
};

function dial(socketPath: string, ...flags: string[]) {
  return Bun.spawn([binary, "dial-stdio", "--socket-path", socketPath, ...flags], {
    env,
    stdio: ["pipe", "pipe", "pipe"],
  });
}

const say = (bridge: ReturnType<typeof dial>, ...frames: unknown[]) => {
  for (const frame of frames) bridge.stdin.write(`${JSON.stringify(frame)}\n`);
  return bridge.stdin.flush();
};

/** Reads lines one by one, and what is left at the end. */
async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    for (const line of lines) yield JSON.parse(line) as Frame;
  }
  expect(rest).toBe("");
}

const create = { id: 1, method: "session.create", params: { name: "dialled" } };

/** A daemon that a bridge has started; it is nobody's child, so its pid file tells how to end it. */
function startedDaemon() {
  const dir = tempDir();
  const socketPath = join(dir.path, "trl.sock");
  const pid = () => Number(readFileSync(join(dir.path, "trl.pid"), "utf8"));
  return {
    socketPath,
    pid,
    async [Symbol.asyncDispose]() {
      const daemon = pid();
      process.kill(daemon, "SIGTERM");
      await until("the daemon's end", () => !isAlive(daemon));
      dir[Symbol.dispose]();
    },
  };
}

describe("a bridge", () => {
  test("passes on the end of the input, and then everything that the daemon still sends", async () => {
    await using daemon = await startDaemon();
    const bridge = dial(daemon.socketPath, "--greeting", "here you are");
    const bytes = 24 * 1024 * 1024;
    const script = `head -c ${bytes} /dev/zero | tr '\\0' a`;
    using wire = await daemon.connect();
    const { session_id } = await wire.call("session.create", {});
    await say(bridge, { id: 2, method: "exec.stream", params: { session_id, command: script } });
    bridge.stdin.end();
    const hash = new Bun.CryptoHasher("sha256");
    let exit: Frame | undefined;
    const reader = bridge.stdout.getReader();
    const decoder = new TextDecoder();
    let text = "";
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const lines = (text + decoder.decode(next.value, { stream: true })).split("\n");
      text = lines.pop()!;
      for (const line of lines) {
        if (line === "here you are") continue;
        const frame = JSON.parse(line) as Frame;
        if (frame["type"] === "stdout") hash.update(frame["data"]);
        if (frame["type"] === "exit") exit = frame;
      }
    }
    expect(text).toBe("");
    expect(exit).toMatchObject({ exit_code: 0, stdout_bytes: bytes });
    expect(hash.digest("hex")).toBe(sha256("a".repeat(bytes)));
    expect(await bridge.exited).toBe(0);
  });

  test("that hangs up ends with its input, although a command goes on talking", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const { session_id } = await wire.call("session.create", {});
    const bridge = dial(daemon.socketPath, "--hang-up");
    const lines = linesOf(bridge.stdout);
    await say(bridge, { id: 1, method: "exec.stream", params: { session_id, command: "yes", timeout_s: 0 } });
    expect((await lines.next()).value).toMatchObject({ ok: true });
    bridge.stdin.end();
    expect(await bridge.exited).toBe(0);
    const { running_commands } = await wire.call("system.stats", {});
    expect(running_commands).toBe(1);
  });

  test("reads no more than its reader takes, and loses nothing by it", async () => {
    await using daemon = await startDaemon({ flags: ["--stall-timeout-s", "0"] });
    using wire = await daemon.connect();
    const { session_id } = await wire.call("session.create", {});
    const bridge = dial(daemon.socketPath);
    const before = await until("the bridge", () => residentBytes(bridge.pid));
    await say(bridge, {
      id: 1,
      method: "exec.stream",
      params: { session_id, command: "seq 12000000", timeout_s: 0 },
    });
    // Nobody reads, so in the end the command itself stands still.
    let last = -1;
    await until("the standstill", async () => {
      await Bun.sleep(300);
      const { bytes_out } = await wire.call("system.stats", {});
      const stands = bytes_out - last < 4096; // the answer to us is counted as well
      last = bytes_out;
      return stands && bytes_out > 100_000;
    });
    expect(residentBytes(bridge.pid) - before).toBeLessThan(48 * 1024 * 1024);
    const hash = new Bun.CryptoHasher("sha256");
    for await (const frame of linesOf(bridge.stdout)) {
      if (frame["type"] === "stdout") hash.update(frame["data"]);
      if (frame["type"] === "exit") break;
    }
    const seq = Bun.spawnSync(["seq", "12000000"]).stdout;
    expect(hash.digest("hex")).toBe(sha256(seq));
    bridge.stdin.end();
    expect(await bridge.exited).toBe(0);
  });

  test("ends where nobody reads its output any more", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const { session_id } = await wire.call("session.create", {});
    const bridge = dial(daemon.socketPath);
    await say(bridge, { id: 1, method: "exec.stream", params: { session_id, command: "yes", timeout_s: 0 } });
    await bridge.stdout.cancel();
    expect(await bridge.exited).toBe(1);
  });

  test("ends when the daemon does", async () => {
    await using daemon = await startDaemon();
    const bridge = dial(daemon.socketPath);
    await say(bridge, { id: 1, method: "system.ping" });
    const lines = linesOf(bridge.stdout);
    expect((await lines.next()).value).toMatchObject({ ok: true });
    daemon.kill("SIGTERM");
    expect((await lines.next()).done).toBe(true);
    expect(await bridge.exited).toBe(0);
  });
});

describe("where no daemon is running", () => {
  needs("linux").test(
    "one is started, with the flags behind --, holds nothing of the bridge, and survives its death",
    async () => {
      await using daemon = startedDaemon();
      const first = dial(daemon.socketPath, "--", "--max-sessions", "1");
      await say(first, create);
      const lines = linesOf(first.stdout);
      const created = (await lines.next()).value!["data"];
      first.kill("SIGKILL");
      // Both end although the daemon lives: it has not inherited them.
      expect((await lines.next()).done).toBe(true);
      expect(await new Response(first.stderr).text()).toBe("");
      const second = dial(daemon.socketPath);
      await say(second, { id: 2, method: "session.list" }, create);
      second.stdin.end();
      const answers = await Array.fromAsync(linesOf(second.stdout));
      expect(answers[0]!["data"].sessions[0].session_id).toBe(created.session_id);
      expect(answers[1]!["error"].code).toBe("MAX_SESSIONS_REACHED");
      const cwd = Bun.spawnSync(["readlink", `/proc/${daemon.pid()}/cwd`]).stdout.toString();
      expect(cwd).toBe("/\n");
    },
  );

  test("several that begin at once meet at one daemon", async () => {
    await using daemon = startedDaemon();
    const bridges = Array.from({ length: 6 }, () => dial(daemon.socketPath));
    await Promise.all(bridges.map((bridge) => say(bridge, { id: 1, method: "system.stats" })));
    const answers = await Promise.all(bridges.map(async (it) => (await linesOf(it.stdout).next()).value!));
    expect(new Set(answers.map((answer) => answer["data"].pid))).toEqual(new Set([daemon.pid()]));
    for (const bridge of bridges) bridge.stdin.end();
    expect(await Promise.all(bridges.map(({ exited }) => exited))).toEqual(bridges.map(() => 0));
    // Each bridge may have started one; those that came too late wait for a moment whether the first one goes.
    await until("one daemon", () => processesWith(`--socket-path ${daemon.socketPath}`).length === 1);
  });

  test("and none can be started, it says why", async () => {
    const bridge = dial("/nowhere/at/all/trl.sock");
    expect(await bridge.exited).toBe(69);
    expect(await new Response(bridge.stderr).text()).toContain(
      "a daemon could not be started: /nowhere/at/all/trl.pid",
    );
    expect(existsSync("/nowhere")).toBe(false);
  });

  test("a dead daemon's socket is no obstacle", async () => {
    await using daemon = startedDaemon();
    const first = dial(daemon.socketPath);
    await say(first, { id: 1, method: "system.ping" });
    await linesOf(first.stdout).next();
    const dead = daemon.pid();
    process.kill(dead, "SIGKILL");
    expect(await first.exited).toBe(0);
    // Its connections go before its socket does, which is there until the last of its threads has ended.
    await until("its socket to refuse", () =>
      Wire.connect(daemon.socketPath).then(
        (wire) => wire[Symbol.dispose](),
        ({ code }: NodeJS.ErrnoException) => code === "ECONNREFUSED",
      ),
    );
    const second = dial(daemon.socketPath);
    await say(second, { id: 1, method: "system.ping" });
    expect((await linesOf(second.stdout).next()).value).toMatchObject({ ok: true });
    expect(daemon.pid()).not.toBe(dead);
    using wire = await Wire.connect(daemon.socketPath);
    expect((await wire.call("system.stats", {})).pid).toBe(daemon.pid());
    second.stdin.end();
    await second.exited;
  });
});
