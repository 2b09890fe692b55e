// --stdin: frames in, frames out, and nothing left; and all doors at once.
import { describe, expect, test } from "bun:test";
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { framesOf, SocketClient } from "../../support/http.ts";
import { isAlive, residentBytes } from "../../support/processes.ts";
import { binary, shellBinary } from "../../support/program.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { hangMs, until } from "../../support/wait.ts";
import { type Frame, Wire } from "../../support/wire.ts";

const env = { PATH: process.env["PATH"], HOME: process.env["HOME"], LANG: "C.UTF-8" };

interface Talk extends AsyncDisposable {
  dir: string;
  pid: number;
  frames: Frame[];
  log(): string;
  send(text: string): void;
  request(method: string, params?: unknown): Promise<Frame>;
  endInput(): void;
  /** Nobody reads its answers any more. */
  stopReading(): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  exited: Promise<number>;
  /** Its output has ended, and every line was a frame. */
  outputEnded: Promise<void>;
}

function talk(flags: string[] = [], more: Record<string, string> = {}): Talk {
  const dir = tempDir();
  const child = Bun.spawn([binary, "--stdin", "--allow-root", ...flags], {
    cwd: dir.path,
    env: { ...env, TMPDIR: dir.path, ...more },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const frames: Frame[] = [];
  let log = "";
  let nextId = 1;
  const reader = child.stdout.getReader();
  const outputEnded = (async () => {
    const decoder = new TextDecoder();
    let rest = "";
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const lines = (rest + decoder.decode(next.value, { stream: true })).split("\n");
      rest = lines.pop()!;
      frames.push(...lines.map((line) => JSON.parse(line) as Frame));
    }
    expect(rest).toBe("");
  })();
  const logEnded = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) log += decoder.decode(chunk, { stream: true });
  })();
  const send = (text: string) => {
    child.stdin.write(text);
    child.stdin.flush();
  };
  return {
    dir: dir.path,
    pid: child.pid,
    frames,
    log: () => log,
    send,
    async request(method, params) {
      const id = `t${nextId++}`;
      send(`${JSON.stringify({ id, method, params })}\n`);
      return await until(`the reply to ${method}`, () => frames.find((frame) => frame["id"] === id));
    },
    endInput: () => void child.stdin.end(),
    stopReading: () => reader.cancel(),
    kill: (signal) => child.kill(signal),
    exited: child.exited.then(async (code) => {
      await logEnded;
      return code;
    }),
    outputEnded,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.exited;
      dir[Symbol.dispose]();
    },
  };
}

async function startSleeper(daemon: Talk): Promise<{ pid: number }> {
  const session = (await daemon.request("session.create"))["data"].session_id;
  daemon.send(
    `${JSON.stringify({ id: "sleep", method: "exec.stream", params: { session_id: session, command: "echo $$; exec sleep 1000", timeout_s: 0 } })}\n`,
  );
  const frame = await until("its pid", () => daemon.frames.find(({ type }) => type === "stdout"));
  return { pid: Number(frame["data"]) };
}

describe("a pipe", () => {
  test("as one writes it in a shell", () => {
    using dir = tempDir();
    const line = `echo '{"id":"1","method":"system.ping","params":{}}' | ${shellBinary} --stdin`;
    const { stdout, exitCode } = Bun.spawnSync(["sh", "-c", line], {
      cwd: dir.path,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    expect(stdout.toString()).toMatch(/^\{"id":"1","ok":true,"data":\{"uptime_s":0,"version":"[^"]+"\}\}\n$/);
    expect(exitCode).toBe(0);
  });

  test("a file in, a file out", () => {
    using dir = tempDir();
    const requests = Array.from({ length: 100 }, (_, id) => `{"id":${id},"method":"system.ping"}\n`);
    writeFileSync(join(dir.path, "in"), requests.join(""));
    const [input, output] = [openSync(join(dir.path, "in"), "r"), openSync(join(dir.path, "out"), "w")];
    const { exitCode } = Bun.spawnSync([binary, "--stdin", "--allow-root"], {
      cwd: dir.path,
      env,
      stdio: [input, output, "ignore"],
    });
    for (const fd of [input, output]) closeSync(fd);
    const ids = readFileSync(join(dir.path, "out"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).id);
    expect(ids.toSorted((a, b) => a - b)).toEqual(requests.map((_, id) => id));
    expect(exitCode).toBe(0);
  });

  test.each([
    ["", "empty"],
    ["\n\n", "blank"],
  ])("%p: nothing in, nothing out", (text) => {
    const { stdout, exitCode } = Bun.spawnSync([binary, "--stdin", "--allow-root"], {
      env,
      stdio: [Buffer.from(text), "pipe", "ignore"],
    });
    expect([stdout.toString(), exitCode]).toEqual(["", 0]);
  });

  test("that is closed from the first", () => {
    const { exitCode } = Bun.spawnSync(
      ["sh", "-c", `exec ${shellBinary} --stdin --allow-root <&- 2>/dev/null`],
      { env, stdio: ["ignore", "ignore", "ignore"], timeout: hangMs },
    );
    expect(exitCode).toBe(0);
  });

  test("whose last line has no end", async () => {
    await using daemon = talk();
    daemon.send('{"id":"1","method":"system.ping"}');
    daemon.endInput();
    expect(await daemon.exited).toBe(0);
    await daemon.outputEnded;
    expect(daemon.frames).toMatchObject([{ id: "1", ok: true }]);
  });

  test("whose lines cannot be read", async () => {
    await using daemon = talk(["--max-line-bytes", "1000"]);
    daemon.send(`nonsense\n[]\n${"x".repeat(5000)}\n`);
    expect(await daemon.request("system.ping")).toMatchObject({ ok: true });
    await until("all answers", () => daemon.frames.length === 4);
    const codes = daemon.frames.filter(({ id }) => id === "unknown").map(({ error }) => error.code);
    expect(codes.toSorted()).toEqual(["INVALID_PARAMS", "INVALID_PARAMS", "REQUEST_TOO_LARGE"]);
  });
});

describe("it", () => {
  test("ends when the input has ended and all is answered, also what streams; nothing is left", async () => {
    await using daemon = talk();
    const session_id = (await daemon.request("session.create"))["data"].session_id;
    const command = "sleep 1000 & echo $!; sleep 0.3; seq 1 200000; echo err >&2";
    const other = (await daemon.request("session.create"))["data"].session_id;
    daemon.send(`${JSON.stringify({ id: "s", method: "exec.stream", params: { session_id, command } })}\n`);
    daemon.send(
      `${JSON.stringify({ id: "r", method: "exec.run", params: { session_id: other, command: "sleep 0.2; echo run" } })}\n`,
    );
    daemon.endInput();
    expect(await daemon.exited).toBe(0);
    await daemon.outputEnded;
    const output = daemon.frames
      .filter(({ type }) => type === "stdout")
      .map(({ data }) => data)
      .join("");
    const [background, ...numbers] = output.trimEnd().split("\n").map(Number);
    expect(numbers).toEqual(Array.from({ length: 200_000 }, (_, at) => at + 1));
    expect(daemon.frames.find(({ id }) => id === "r")).toMatchObject({ data: { stdout: "run\n" } });
    expect(daemon.frames.at(-1)).toMatchObject({ type: "exit", exit_code: 0 });
    expect(isAlive(background!)).toBeFalse();
  });

  test("logs on stderr alone and leaves no file", async () => {
    await using daemon = talk(["--verbose", "--log-format", "json"]);
    const session_id = (await daemon.request("session.create"))["data"].session_id;
    await daemon.request("exec.run", { session_id, command: "true" });
    const names = () => readdirSync(daemon.dir, { recursive: true }).map(String);
    expect(names().filter((name) => /\.(?:sock|pid|lock|token)$/.test(name))).toEqual([]);
    daemon.endInput();
    expect(await daemon.exited).toBe(0);
    await daemon.outputEnded;
    expect(daemon.frames.every((frame) => "id" in frame)).toBeTrue();
    const said = daemon
      .log()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).message);
    expect(said).toContain("ready");
    expect(said.at(-1)).toBe("stopped");
    expect(names()).toEqual([]);
  });

  test("ends, and everything with it, when nobody reads its answers any more", async () => {
    await using daemon = talk();
    const { pid } = await startSleeper(daemon);
    await daemon.stopReading(); // and nothing is written that would fail
    expect(await daemon.exited).toBe(0);
    expect(isAlive(pid)).toBeFalse();
  });

  test("ends, and everything with it, when the pipe behind it is gone in the midst of a quiet program", () => {
    using dir = tempDir();
    const pidFile = join(dir.path, "pid");
    const command = `echo $$ >${pidFile}; exec sleep 1000`;
    const requests = [
      { id: 1, method: "pty.create", params: { session_id: "p", command } },
      { id: 2, method: "pty.subscribe", params: { session_id: "p", replay: "none" } },
    ];
    writeFileSync(join(dir.path, "in"), requests.map((request) => `${JSON.stringify(request)}\n`).join(""));
    const line = `${shellBinary} --stdin --allow-root <in | (while [ ! -s ${pidFile} ]; do sleep 0.01; done; head -n 1)`;
    const { stdout, exitCode } = Bun.spawnSync(["bash", "-o", "pipefail", "-c", line], {
      cwd: dir.path,
      env,
      stdio: ["ignore", "pipe", "ignore"],
      timeout: hangMs,
    });
    expect(JSON.parse(stdout.toString())).toMatchObject({ id: 1, ok: true });
    expect(exitCode).toBe(0);
    expect(isAlive(Number(readFileSync(pidFile, "utf8")))).toBeFalse();
  });

  test.each(["SIGTERM", "SIGINT"] as const)("ends with %s, and everything with it", async (signal) => {
    await using daemon = talk();
    const { pid } = await startSleeper(daemon);
    daemon.kill(signal);
    expect(await daemon.exited).toBe(0);
    await daemon.outputEnded;
    expect(daemon.frames.at(-1)).toMatchObject({ type: "exit" });
    expect(isAlive(pid)).toBeFalse();
  });

  test("takes the frontend dialect without a token: who holds the pipes has started it", async () => {
    await using daemon = talk();
    daemon.send('{"type":"CreateSession","id":"t","shell":"/bin/sh"}\n{"type":"Ping"}\n');
    await until("both answers", () => daemon.frames.length === 2);
    expect(daemon.frames.map(({ type }) => type)).toEqual(["SessionCreated", "Pong"]);
  });

  test("holds a command back whose output is not read, and others are answered when it is", async () => {
    using dir = tempDir();
    const done = join(dir.path, "done");
    const child = Bun.spawn([binary, "--stdin", "--allow-root"], { env, stdio: ["pipe", "pipe", "ignore"] });
    const reader = child.stdout.getReader();
    const say = (frame: unknown) => {
      child.stdin.write(`${JSON.stringify(frame)}\n`);
      child.stdin.flush();
    };
    say({ id: 1, method: "session.create" });
    const first = await reader.read();
    const { session_id } = JSON.parse(Buffer.from(first.value!).toString()).data;
    const command = `head -c 100000000 /dev/zero | tr '\\0' a; touch ${done}`;
    say({ id: 2, method: "exec.stream", params: { session_id, command, timeout_s: 0 } });
    await until("its memory to stay", async () => {
      const before = residentBytes(child.pid);
      await Bun.sleep(150);
      return residentBytes(child.pid) - before < 100 * 1024;
    });
    expect(residentBytes(child.pid)).toBeLessThan(250_000 * 1024);
    expect(await Bun.file(done).exists()).toBeFalse();
    child.stdin.end();
    let bytes = 0;
    for (let next = await reader.read(); !next.done; next = await reader.read()) bytes += next.value.length;
    expect(bytes).toBeGreaterThan(100_000_000);
    expect(await child.exited).toBe(0);
  });
});

describe("all doors of one daemon", () => {
  test("lead to the same sessions, and one signal closes them all within a second", async () => {
    const socketName = "trl.sock";
    await using daemon = talk(
      ["--socket-path", socketName, "--http", "127.0.0.1:0", "--log-format", "json"],
      { TRL_AUTH_TOKEN: "t0ken" },
    );
    const session_id = (await daemon.request("session.create"))["data"].session_id;
    const { transports } = (await daemon.request("system.describe"))["data"].capabilities;
    expect(transports).toEqual(["unix", "http", "websocket", "stdin"]);
    const [url, digits] = await until("the port", () => /http:\/\/127\.0\.0\.1:(\d+)/.exec(daemon.log()));
    const port = Number(digits);
    const headers = { authorization: "Bearer t0ken" };
    using unix = await Wire.connect(join(daemon.dir, socketName));
    using socket = await SocketClient.connect({ port, token: "t0ken" });
    expect((await unix.call("session.list", {})).sessions.map((each) => each.session_id)).toEqual([
      session_id,
    ]);
    expect((await socket.request("session.list"))["data"].sessions).toHaveLength(1);
    const command = "while :; do echo x; sleep 0.01; done";
    const body = JSON.stringify({
      id: 1,
      method: "exec.stream",
      params: { session_id, command, timeout_s: 0 },
    });
    const frames = framesOf(await fetch(url, { method: "POST", body, headers }));
    const { stream_id } = (await frames.next()).value!["data"];
    const events = await fetch(url, {
      method: "POST",
      body: JSON.stringify({ id: 2, method: "exec.attach", params: { stream_id } }),
      headers: { ...headers, accept: "text/event-stream" },
    });
    await unix.call("exec.attach", { stream_id });
    await socket.request("exec.attach", { stream_id });
    await daemon.request("exec.attach", { stream_id });
    const other = (await daemon.request("session.create"))["data"].session_id;
    const run = {
      id: 3,
      method: "exec.run",
      params: { session_id: other, command: "echo begun; sleep 1000" },
    };
    const waiting = fetch(url, { method: "POST", body: JSON.stringify(run), headers });
    const isRunning = async () =>
      (await daemon.request("session.info", { session_id: other }))["data"].state === "running";
    await until("the command", isRunning);
    const rest = Array.fromAsync(frames);
    const text = events.text();
    daemon.kill("SIGTERM");
    expect(await daemon.exited).toBe(0);
    expect((await rest).at(-1)).toMatchObject({ type: "exit", stream_id });
    expect(await (await waiting).json()).toMatchObject({ id: 3, ok: true, data: { reason: "cancelled" } });
    expect(await text).toMatch(/event: exit\ndata: .*\n\n$/);
    await daemon.outputEnded;
    expect(daemon.frames.at(-1)).toMatchObject({ type: "exit", stream_id });
    await unix.untilClosed();
    await until("the WebSocket's end", () => socket.closeCode !== undefined);
    for (const client of [unix, socket])
      expect(client.frames.at(-1)).toMatchObject({ type: "exit", stream_id });
    expect(fetch(url)).rejects.toThrow();
    expect(readdirSync(daemon.dir).filter((name) => name.startsWith("trl.") && name !== "trl.token")).toEqual(
      [],
    );
  });
});
