// trl logs: output that was printed before anybody asked, and what comes while somebody looks on.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { commandLine, startCall } from "../../support/command-line.ts";
import { startDaemon } from "../../support/daemon.ts";
import { binary, shellBinary } from "../../support/program.ts";
import { hangMs, until } from "../../support/wait.ts";

setDefaultTimeout(40_000);

describe("of a command", () => {
  test("are its output and its errors, each in its place, and not its exit code", async () => {
    await using daemon = await startDaemon();
    const trl = commandLine(daemon.socketPath);
    trl("run", "--session", "build", "--", "echo first");
    trl("run", "--session", "build", "--", "printf 'out\\377'; echo err >&2; exit 3");
    expect(trl("logs", "build")).toMatchObject({ code: 0, err: "err\n" });
    const bytes = Bun.spawnSync([binary, "logs", "--socket-path", daemon.socketPath, "build"]).stdout;
    expect(bytes.toHex()).toBe("6f7574ff");
    expect(trl("logs", "--stderr", "build")).toEqual({ code: 0, out: "", err: "err\n" });
    expect(trl("logs", "--stdout", "--from", "1", "build").err).toBe("");
    expect(trl("logs", "--stderr", "--from", "2", "build").err).toBe("r\n");
    expect(trl("logs", "--stderr", "--from", "99", "build")).toMatchObject({ code: 64 });
    const frames = trl("logs", "--json", "--stderr", "build").out.trimEnd().split("\n");
    expect(frames.map((line) => JSON.parse(line))).toMatchObject([
      { type: "stderr", data: "err\n", offset: 0 },
      { type: "exit", exit_code: 3 },
    ]);
    trl("kill", "build");
    expect(trl("logs", "build").err).toBe("err\n"); // it outlives its session
  });

  test("follow it live until it ends, and without -f stop where it is", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const { session_id } = await wire.call("session.create", { name: "live" });
    const params = { session_id, command: "echo one; read a; echo two $a", open_stdin: true };
    const { stream_id } = await wire.call("exec.stream", params);
    await wire.frame((frame) => frame["type"] === "stdout");
    const trl = commandLine(daemon.socketPath);
    expect(trl("logs", "live")).toEqual({ code: 0, out: "one\n", err: "" });
    using following = startCall(daemon.socketPath, "logs", "-f", stream_id);
    await until("the first line", () => following.out() === "one\n");
    trl("send", "live", "--enter", "more");
    expect(await following.ended()).toEqual({ code: 0, out: "one\ntwo more\n", err: "" });
  });

  test("are left by a signal and by a reader that goes, and the command runs on", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const { session_id } = await wire.call("session.create", { name: "long" });
    await wire.call("exec.stream", { session_id, command: "while echo y; do sleep 0.01; done" });
    using following = startCall(daemon.socketPath, "logs", "-f", "long");
    await until("some lines", () => following.out().length > 10);
    following.kill("SIGINT");
    expect(await following.ended()).toMatchObject({ code: 130, err: "" });
    const line = `${shellBinary} logs -f --socket-path ${daemon.socketPath} long | head -n 2`;
    const headed = Bun.spawnSync(["bash", "-c", `${line}; echo \${PIPESTATUS[*]}`], { timeout: hangMs });
    expect(headed.stdout.toString()).toBe("y\ny\n0 0\n");
    expect(headed.stderr.toString()).toBe("");
    expect(commandLine(daemon.socketPath)("ps").out).toContain("running");
  });

  test("do not hold it up for long where the reader is slow, and tell what it missed", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const { session_id } = await wire.call("session.create", { name: "flood" });
    const mark = join(daemon.dir, "written");
    // It waits for its reader first, and is far more than what is kept.
    const command = `read a; head -c 30000000 /dev/zero | tr '\\0' x; echo; echo end; touch ${mark}`;
    const params = { session_id, command, open_stdin: true, stall_timeout_s: 0.1 };
    const { stream_id } = await wire.call("exec.stream", params);
    wire.pause(); // only the slow reader counts
    const fifo = join(daemon.dir, "go");
    const reader = `mkfifo ${fifo}; ${shellBinary} logs -f --socket-path ${daemon.socketPath} ${stream_id} 2>${daemon.dir}/told | { cat ${fifo}; tail -c 200; }`;
    const slow = Bun.spawn(["bash", "-c", reader], { stdio: ["ignore", "pipe", "inherit"] });
    using observer = await daemon.connect();
    await until("the reader", async () => (await observer.call("system.stats", {})).connections === 3);
    const trl = commandLine(daemon.socketPath);
    expect(trl("send", "flood", "--enter", "go").code).toBe(0);
    await until("the command's end", () => existsSync(mark));
    await Bun.write(fifo, "");
    const tail = await new Response(slow.stdout).text();
    expect(tail).toEndWith("x\nend\n");
    expect(readFileSync(join(daemon.dir, "told"), "utf8")).toMatch(/^trl: \d+ MB of stdout are gone/);
    wire.resume();
  });

  test("say what is gone of a long output", async () => {
    await using daemon = await startDaemon({ flags: ["--max-output-bytes", "1000000"] });
    const trl = commandLine(daemon.socketPath);
    using wire = await daemon.connect();
    const { session_id } = await wire.call("session.create", { name: "long" });
    await wire.call("exec.run", { session_id, command: "seq 1 1000000" });
    const { code, out, err } = trl("logs", "long");
    expect(code).toBe(0);
    expect(out).toStartWith("1\n2\n3\n");
    expect(out).toEndWith("\n999999\n1000000\n");
    const [, from, to] = /^trl: [\d.]+ MB of stdout are gone \(bytes (\d+) to (\d+)\)\n$/.exec(err)!;
    expect(out.length).toBe(6_888_896 - (Number(to) - Number(from)));
  });
});

describe("of a terminal", () => {
  test("are what its program has printed, as it was printed", async () => {
    await using daemon = await startDaemon();
    const trl = commandLine(daemon.socketPath);
    const program = "printf '\\033[31mred\\033[0m\\n'; read a; printf 'got %s' $a";
    trl("new", "-d", "work", "--", "sh", "-c", program);
    trl("screen", "--wait", "red", "work");
    expect(trl("logs", "work")).toEqual({ code: 0, out: "\x1b[31mred\x1b[0m\r\n", err: "" });
    expect(trl("logs", "--from", "5", "work").out).toBe("red\x1b[0m\r\n");
    using following = startCall(daemon.socketPath, "logs", "-f", "work");
    await until("what is there", () => following.out().includes("red"));
    // It only looks on: it is nobody's terminal.
    expect(JSON.parse(trl("ls", "--json").out).sessions[0].subscribers).toBe(0);
    trl("send", "work", "--enter", "it");
    const all = "\x1b[31mred\x1b[0m\r\nit\r\ngot it";
    expect(await following.ended()).toEqual({ code: 0, out: all, err: "" });
    expect(trl("logs", "work").out).toBe(all);
    const frames = trl("logs", "--json", "-f", "work").out.trimEnd().split("\n");
    expect(JSON.parse(frames.at(-1)!)).toMatchObject({ type: "exit", exit_code: 0 });
  });

  test("let the daemon answer the program's questions", async () => {
    await using daemon = await startDaemon();
    const trl = commandLine(daemon.socketPath);
    const ask =
      "stty raw -echo; echo ready; read -n 1 a; printf '\\033[6n'; IFS= read -d R pos; echo got; sleep 1000";
    trl("new", "-d", "asker", "--", "bash", "-c", ask);
    trl("screen", "--wait", "ready", "asker");
    using following = startCall(daemon.socketPath, "logs", "-f", "asker");
    await until("the output", () => following.out().includes("ready"));
    trl("send", "asker", "x");
    expect(trl("screen", "--wait", "got", "--timeout", "20", "asker").code).toBe(0);
  });

  test("say when the daemon is lost", async () => {
    await using daemon = await startDaemon();
    const trl = commandLine(daemon.socketPath);
    trl("new", "-d", "work", "--", "sh", "-c", "echo here; sleep 1000");
    using following = startCall(daemon.socketPath, "logs", "-f", "work");
    await until("the output", () => following.out().includes("here"));
    daemon.kill("SIGKILL");
    const { code, err } = await following.ended();
    expect({ code, err }).toEqual({
      code: 1,
      err: "trl: the connection to the daemon is lost\n     see whether it is alive with: trl ping\n",
    });
  });
});
