// What every driver of terminals must do. What one cannot do, it says in system.describe, and is held to that as well.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import type { Params } from "../../../src/protocol/methods.ts";
import { driverNames } from "../../../src/protocol/pty.ts";
import { startDaemon, startHere, type TestDaemon } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { isAlive } from "../../support/processes.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { newTerminal, Watcher } from "../../support/terminal.ts";
import { testOnce } from "../../support/transport.ts";
import { until } from "../../support/wait.ts";
import type { Wire } from "../../support/wire.ts";

let daemon: TestDaemon;
let wire: Wire;
beforeAll(async () => {
  daemon = await startDaemon({
    flags: ["--max-sessions", "1000"],
    env: { SECRET: "of the daemon", TRL_AUTH_TOKEN: "not for programs" },
  });
  wire = await daemon.connect();
});
afterAll(() => daemon[Symbol.asyncDispose]());

/** Printed behind a program's output where the program waits until a test has seen all of it. */
const endOfOutput = "\x1e";
/** bun-pty reads for 20 ms after a program's end: on a busy machine it may lose what was printed last. */
const untilSeen = (command: string) => `(${command}); code=$?; printf '\\036'; read -r seen; exit $code`;

describe.each([...driverNames])("%s", (driver) => {
  const run = async (command: string, more: Partial<Params<"pty.create">> = {}) => {
    const line = driver === "bun-pty" && !more.args ? untilSeen(command) : command;
    const terminal = await newTerminal(wire, { driver, command: line, ...more });
    const watcher = await Watcher.subscribe(wire, { session_id: terminal.id, from: 0 });
    await until("all output", () => watcher.exit ?? watcher.all.includes(endOfOutput));
    if (!watcher.exit) await terminal.type("\r");
    const exit = await watcher.untilExit();
    const end = watcher.all.indexOf(endOfOutput);
    return { watcher, exit, output: end < 0 ? watcher.all : watcher.all.subarray(0, end) };
  };

  test("gives a controlling terminal of the size that was asked for", async () => {
    // The device number of the controlling terminal, where the system shows it, else what it says of its size.
    const controlling = process.platform === "linux" ? "cut -d' ' -f7 /proc/$$/stat" : "stty size </dev/tty";
    const { output } = await run(`tty; stty size; ${controlling}; : >/dev/tty && echo mine`, {
      cols: 101,
      rows: 33,
    });
    const [tty, size, number, mine] = output.toString().split("\r\n");
    expect([size, mine]).toEqual(["33 101", "mine"]);
    if (process.platform !== "linux") {
      expect(tty).toMatch(/^\/dev\/ttys\d+$/);
      expect(number).toBe("33 101");
      return;
    }
    const minor = Number(/^\/dev\/pts\/(\d+)$/.exec(tty!)![1]);
    // Major 136 and on are pseudo terminals; the lower eight bits of the minor come last.
    expect(Number(number)).toBe((136 << 8) | (minor & 0xff) | ((minor & ~0xff) << 12));
  });

  test("passes every variable on, whatever its name", async () => {
    const env = JSON.parse('{"__proto__":"one","constructor":"two","toString":"three"}');
    const { output } = await run("env | grep -E '^(__proto__|constructor|toString)=' | sort", { env });
    expect(output.toString()).toBe("__proto__=one\r\nconstructor=two\r\ntoString=three\r\n");
  });

  test("runs a program with its arguments as they are", async () => {
    const args = ["a b", "", "it's", '"q"', "$HOME", "*", "é\n"];
    const { output } = await run("/bin/sh", { args: ["-c", untilSeen('printf "%s|" "$@"'), "sh", ...args] });
    expect(output.toString()).toBe('a b||it\'s|"q"|$HOME|*|é\r\n|');
  });

  test("runs a program whose path looks like a variable", async () => {
    mkdirSync(`${daemon.dir}/a=b`, { recursive: true });
    // It waits to be read.
    writeFileSync(`${daemon.dir}/a=b/prog`, '#!/bin/sh\necho right "$@"\nread -r end\n', { mode: 0o755 });
    const command = `${daemon.dir}/a=b/prog`;
    const terminal = await newTerminal(wire, { driver, command, args: ["/bin/echo", "wrong"] });
    await terminal.waitFor("right /bin/echo wrong\n");
    await wire.call("pty.close", { session_id: terminal.id });
  });

  test("gives the environment that was asked for, and nothing of the daemon's own", async () => {
    const args = ["-c", untilSeen("env")];
    const env = { MINE: "yes", HOME: null };
    const { output } = await run("/bin/sh", { args, env, inherit_env: "none" });
    const names = output.toString().match(/^\w+(?==)/gm)!;
    expect(names.filter((name) => !["_", "SHLVL", "PWD", "OLDPWD"].includes(name)).sort()).toEqual(
      ["COLORTERM", "MINE", "TERM", "TERM_PROGRAM", "TRL_DAEMON", "TRL_SESSION_ID"].sort(),
    );
    const all = await run("/bin/sh", { args });
    expect(all.output.toString()).toContain("SECRET=of the daemon");
    expect(all.output.toString()).not.toContain("not for programs");
  });

  test("begins in the directory that was asked for", async () => {
    const { output } = await run("pwd", { working_dir: daemon.dir });
    expect(output.toString()).toBe(`${daemon.dir}\r\n`);
  });

  test("tells the exit code, after the last output", async () => {
    const { exit, watcher, output } = await run("echo last; exit 7");
    expect(exit).toMatchObject({ exit_code: 7, signal: null });
    expect(watcher.frames.at(-1)!["type"]).toBe("exit");
    expect(output.toString()).toBe("last\r\n");
  });

  test("tells the signal that ended the program, or says that it cannot", async () => {
    const { capabilities } = await wire.call("system.describe", {});
    const { drivers } = capabilities["pty"] as { drivers: Record<string, { exit_signal: boolean }> };
    const { exit } = await run("kill -9 $$");
    if (drivers[driver]!.exit_signal) expect(exit).toMatchObject({ exit_code: 137, signal: "SIGKILL" });
    else expect(exit).toMatchObject({ signal: null });
    expect(exit["exit_code"]).not.toBe(0);
  });

  test("passes bytes that are no text, or says that it does not", async () => {
    const { capabilities } = await wire.call("system.describe", {});
    const { drivers } = capabilities["pty"] as { drivers: Record<string, { raw_bytes: boolean }> };
    // As above.
    const terminal = await newTerminal(wire, { driver, command: "printf '\\377\\376\\200ab'; read -r end" });
    await terminal.waitFor("ab");
    const watcher = await Watcher.subscribe(wire, { session_id: terminal.id, from: 0 });
    await wire.call("pty.close", { session_id: terminal.id });
    await watcher.untilExit();
    const output = watcher.all;
    if (drivers[driver]!.raw_bytes) expect([...output]).toEqual([0xff, 0xfe, 0x80, 0x61, 0x62]);
    else expect(output.toString()).toBe("\ufffd\ufffd\ufffdab");
  });

  test("loses no byte of many programs that print 20 KB and are gone", async () => {
    const text = `${"0123456789abcdef".repeat(64)}\n`.repeat(20).slice(0, 20_000);
    const expected = text.replaceAll("\n", "\r\n");
    const command = `printf %s '${text}'`;
    const batches = driver === "native" ? 10 : 3; // the library takes its time for each
    for (let batch = 0; batch < batches; batch++) {
      const results = await Promise.all(Array.from({ length: 20 }, () => run(command)));
      for (const { output, watcher } of results) {
        expect(output.toString() === expected).toBe(true);
        expect(watcher.isExact).toBe(true);
      }
    }
  });

  test("types 256 KB whole, and in order", async () => {
    const terminal = await newTerminal(wire, {
      driver,
      command: "stty raw -echo; echo ready; head -c 262144 | sha256sum",
    });
    await terminal.waitFor("ready");
    const text = Array.from({ length: 262144 / 16 }, (_, n) => `${String(n).padStart(15, "0")}\n`).join("");
    const parts = text.match(/[\s\S]{1,10000}/g)!;
    await Promise.all(parts.map((data) => terminal.type(data)));
    await terminal.waitFor(new Bun.CryptoHasher("sha256").update(text).digest("hex"));
  });

  test("refuses input that nobody reads, and lives on", async () => {
    const terminal = await newTerminal(wire, { driver, command: "stty raw -echo; echo ready; sleep 1000" });
    await terminal.waitFor("ready");
    const data = "x".repeat(100_000);
    let refused = "";
    for (let i = 0; i < 30 && !refused; i++) {
      const reply = await wire.request("pty.write", { session_id: terminal.id, data });
      if (!reply["ok"]) refused = reply["error"].code;
    }
    expect(refused).toBe("REQUEST_TOO_LARGE");
    await wire.call("pty.close", { session_id: terminal.id });
  });

  test("resizes", async () => {
    const terminal = await newTerminal(wire, { driver });
    await terminal.waitForRegex("[$#] $");
    await wire.call("pty.resize", { session_id: terminal.id, cols: 50, rows: 20 });
    await terminal.type("stty size\r");
    await terminal.waitFor("20 50");
    await wire.call("pty.close", { session_id: terminal.id });
  });

  test("says that a program is not there, and keeps no terminal of it", async () => {
    const { code } = await wire.fail("pty.create", {
      driver,
      command: "/no/such/program",
      args: [],
      session_id: `missing-${driver}`,
    });
    expect(code).toBe("SPAWN_FAILED");
    expect((await wire.fail("pty.snapshot", { session_id: `missing-${driver}` })).code).toBe(
      "SESSION_NOT_FOUND",
    );
  });

  needs("linux").test("ends all that the program started when it is closed, escapees included", async () => {
    const terminal = await newTerminal(wire, {
      driver,
      command:
        "(setsid sleep 1001 & echo pid=$!) ; sh -c 'trap \"\" HUP TERM; echo pid=$$; sleep 1002' & (nohup sleep 1003 >/dev/null 2>&1 & echo pid=$!); echo ready; wait; sleep 1004",
    });
    const { lines } = await terminal.waitFor("ready");
    await until("three pids", async () => pidsIn((await terminal.snapshot()).lines!).length === 3);
    const pids = [terminal.pid, ...pidsIn((await terminal.snapshot()).lines!)];
    expect(lines).toBeDefined();
    for (const pid of pids) expect(isAlive(pid)).toBe(true);
    await wire.call("pty.close", { session_id: terminal.id });
    for (const pid of pids) expect(isAlive(pid)).toBe(false);
  });

  test("does not wait for what the program leaves on its terminal, and ends it", async () => {
    const { exit, output } = await run("sleep 1005 & echo pid=$!; exit 4");
    expect(exit).toMatchObject({ exit_code: 4 });
    const [pid] = pidsIn(output.toString().split("\r\n"));
    await until("the end of what was left", () => !isAlive(pid!));
  });

  needs("linux").test("gives back its descriptors", async () => {
    const count = () => readdirSync(`/proc/${daemon.pid}/fd`).length;
    await run("true");
    await until("a quiet daemon", async () => (await wire.call("system.stats", {})).pty_sessions === 0);
    const before = count();
    for (let i = 0; i < 20; i++) await run("true");
    await until("no more descriptors than before", () => count() <= before + 2);
  });
});

const pidsIn = (lines: string[]) =>
  lines.flatMap((line) => [...line.matchAll(/pid=(\d+)/g)].map((match) => Number(match[1])));

testOnce()("bun-pty's shared object leaves no file behind", async () => {
  using tmp = tempDir();
  await using own = await startHere({ env: { TMPDIR: tmp.path }, flags: ["--run-dir", "."] });
  using its = await own.connect();
  await newTerminal(its, { driver: "bun-pty", command: "sleep 1000" });
  const files = () => readdirSync(tmp.path, { recursive: true });
  expect(files()).toEqual([]);
});

test("the driver of the daemon can be chosen, and auto is the built-in one", async () => {
  await using other = await startDaemon({ flags: ["--pty-driver", "bun-pty"] });
  using its = await other.connect();
  expect((await newTerminal(its)).driver).toBe("bun-pty");
  expect((await newTerminal(its, { driver: "native" })).driver).toBe("native");
  expect((await newTerminal(wire)).driver).toBe("native");
});
