// Limits on a real kernel: what exceeds them is stopped and named, and everybody else goes on.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { commandLine } from "../../support/command-line.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { cgroupsOf } from "../../support/isolation.ts";
import { needs } from "../../support/needs.ts";
import { isAlive, processesWith } from "../../support/processes.ts";
import { isRoot } from "../../support/requirements.ts";
import { newSession } from "../../support/session.ts";
import { follow } from "../../support/stream.ts";
import { newTerminal } from "../../support/terminal.ts";
import { until } from "../../support/wait.ts";
import type { Wire } from "../../support/wire.ts";

let daemon: TestDaemon;
let wire: Wire;

beforeAll(async () => {
  daemon = await startDaemon();
  wire = await daemon.connect();
});
afterAll(async () => {
  wire[Symbol.dispose]();
  await daemon[Symbol.asyncDispose]();
});

const megabyte = 1024 * 1024;
const hog = "python3 -c 'x = bytearray(180 * 1024 * 1024)'";
const spin = "while :; do :; done";

needs("limits", "python3").describe("memory", () => {
  const isolation = { limits: { memory_bytes: 64 * megabyte } };

  test("a hog is stopped and named, and the session goes on", async () => {
    const { run, out, id } = await newSession(wire, { isolation });
    const result = await run(`kept=1; ${hog}`);
    expect(result).toMatchObject({ exit_code: 137, reason: "memory_limit", timed_out: false });
    expect(result.receipt).toMatchObject({ measured_by: "cgroup", limits_hit: ["memory"] });
    expect(result.receipt.peak_memory_bytes).toBeWithin(32 * megabyte, 64 * megabyte + 1);
    expect(await out("echo $kept")).toBe("1");
    const clean = await run(":");
    expect(clean.receipt.limits_hit).toEqual([]);
    expect(clean.receipt.peak_memory_bytes).toBeLessThan(32 * megabyte);
    const { receipt, isolation: told } = await wire.call("session.info", { session_id: id });
    expect(receipt.limits_hit).toEqual(["memory"]);
    expect(told?.limits["memory_bytes"]?.value).toBe(64 * megabyte);
  });

  test("where only a child died and its shell went on, the receipt still says so", async () => {
    const { run } = await newSession(wire, { isolation });
    const result = await run(`${hog}; echo survived`);
    expect(result).toMatchObject({ stdout: "survived\n", exit_code: 0, reason: "exit" });
    expect(result.receipt.limits_hit).toEqual(["memory"]);
  });

  test("the shell itself dies of it: a signal with a name", async () => {
    const { run } = await newSession(wire, { isolation, stateful: false });
    const result = await run(`exec ${hog}`);
    expect(result).toMatchObject({ exit_code: 137, signal: "SIGKILL", reason: "memory_limit" });
  });

  test("a stream's last frame says it, too", async () => {
    const { id } = await newSession(wire, { isolation });
    const { stream_id } = await wire.call("exec.stream", { session_id: id, command: hog });
    const { exit } = await follow(wire, stream_id);
    expect(exit).toMatchObject({ reason: "memory_limit", receipt: { limits_hit: ["memory"] } });
  });

  test("the command line tells it on stderr", async () => {
    const { id } = await newSession(wire, { isolation });
    const { code, err } = commandLine(daemon.socketPath)("run", "--session", id, "--", hog);
    expect(code).toBe(137);
    expect(err).toEndWith("trl: the command met its session's limit: memory\n");
  });

  test("a terminal's program, in its record", async () => {
    const { waitForExit, summary } = await newTerminal(wire, { command: hog, isolation });
    await waitForExit();
    const record = await summary();
    expect(record).toMatchObject({ exit_code: 137, reason: "memory_limit" });
    expect(record.receipt).toMatchObject({ limits_hit: ["memory"], measured_by: "cgroup" });
  });

  test("a kill -9 by somebody is not taken for it", async () => {
    const { run } = await newSession(wire, { isolation });
    const result = await run("kill -9 $$");
    expect(result).toMatchObject({ exit_code: 137, reason: "signal", receipt: { limits_hit: [] } });
  });

  test("less than the shell needs to start is refused", async () => {
    const tight = { limits: { memory_bytes: 100_000 } };
    for (const method of ["session.create", "pty.create"]) {
      const { code, message } = await wire.fail(method, { isolation: tight });
      expect(code).toBe("INVALID_PARAMS");
      expect(message).toMatch(/^isolation\.limits\.memory_bytes: 100000 bytes are too few for \S+ to start$/);
    }
  });
});

needs("limits").describe("processes", () => {
  const isolation = { limits: { pids: 60, cpu_percent: 60 } };

  test("a fork storm is stopped, the daemon answers throughout, and nothing is left", async () => {
    const storm = await newSession(wire, { isolation });
    const other = await newSession(wire);
    const mark = `storm-${process.pid}`;
    const running = storm.run(`f() { : ${mark}; f | f & }; f; sleep 60`);
    await until("the storm at its limit", async () => {
      await wire.call("system.ping", {});
      const { processes } = await wire.call("session.info", { session_id: storm.id });
      expect(processes).toBeLessThanOrEqual(60);
      return processes > 50;
    });
    expect(await other.out("echo fine")).toBe("fine");
    await wire.call("session.destroy", { session_id: storm.id, force: true });
    const result = await running;
    expect(result.reason).toBe("cancelled");
    expect(result.receipt.limits_hit).toContain("pids");
    expect(processesWith(mark)).toEqual([]);
  });

  test("a storm that is timed out leaves the session usable", async () => {
    const { id, out } = await newSession(wire, { isolation });
    const command = "f() { f | f & }; f; sleep 60";
    const { data } = await wire.fail("exec.run", { session_id: id, command, timeout_s: 1 });
    expect(data).toMatchObject({ reason: "timeout", receipt: { limits_hit: ["pids"] } });
    expect(await out("echo back")).toBe("back");
  });
});

describe("processor", () => {
  needs("limits").test("a share of it is kept to", async () => {
    const isolation = { limits: { cpu_percent: 30 } };
    const { run } = await newSession(wire, { isolation });
    const result = await run(`timeout 3 sh -c '${spin}'`);
    const share = result.receipt.cpu_ms! / result.duration_ms;
    // Never much more: the first moments are not counted yet. On a busy machine it may get less, and is not throttled.
    expect(share).toBeLessThan(0.42);
    if (share > 0.25) expect(result.receipt.throttled_ms).toBeGreaterThan(0);
  });

  test("time is limited for one process", async () => {
    const isolation = { limits: { cpu_time_s: 1 } };
    const { run, out } = await newSession(wire, { isolation });
    const result = await run(`kept=1; ${spin}`, { timeout_s: 0 });
    expect(result.reason).toBe("cpu_time_limit");
    expect(result.receipt.limits_hit).toEqual(["cpu_time"]);
    expect(await out("echo ok")).toBe("ok");
  });

  needs("limits").test("and for many that are short, which are counted together", async () => {
    const isolation = { limits: { cpu_time_s: 1 } };
    const { run } = await newSession(wire, { isolation });
    const short = "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done";
    const many = `for n in $(seq 400); do sh -c '${short}'; done; echo all`;
    const result = await run(many, { timeout_s: 0 });
    expect(result).toMatchObject({ reason: "cpu_time_limit", stdout: "" });
  });
});

describe("files", () => {
  test("of more than the size cannot be written", async () => {
    const isolation = { limits: { file_size_bytes: 100 * 1024 } };
    const { run, out } = await newSession(wire, { isolation, working_dir: daemon.dir });
    const result = await run("kept=1; head -c 200000 /dev/zero >big");
    expect(result).toMatchObject({ exit_code: 153, reason: "file_size_limit" });
    expect(result.receipt.limits_hit).toEqual(["file_size"]);
    expect(await out("stat -c %s big; echo $kept")).toBe("102400\n1");
    expect((await run("head -c 100000 /dev/zero >small")).reason).toBe("exit");
    expect((await run("exit 153")).stderr).toBe("");
  });

  needs("python3").test("can be open up to the limit, and it cannot be raised", async () => {
    const { out, run } = await newSession(wire, { isolation: { limits: { open_files: 40 } } });
    expect(await out("ulimit -n")).toBe("40");
    if (!isRoot) expect((await run("ulimit -n 50")).exit_code).not.toBe(0); // root may raise its own
    expect(
      await out("python3 -c 'import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE)[1])'"),
    ).toBe("40");
    const many = "[open('/dev/null') for _ in range(100)]";
    expect((await run(`python3 -c "${many}"`)).stderr).toContain("Too many open files");
  });
});

describe("the clock", () => {
  test("ends a command, whatever time it was given", async () => {
    const { id } = await newSession(wire, { isolation: { limits: { wall_clock_s: 0.5 } } });
    const params = { session_id: id, command: "echo begun; sleep 60", timeout_s: 0 };
    const { code, data } = await wire.fail("exec.run", params);
    expect(code).toBe("COMMAND_TIMEOUT");
    expect(data).toMatchObject({ stdout: "begun\n", timed_out: true, reason: "wall_clock_limit" });
    expect(data?.["receipt"].limits_hit).toEqual(["wall_clock"]);
  });

  test("ends a terminal's program", async () => {
    const isolation = { limits: { wall_clock_s: 0.5 } };
    const { waitForExit, summary } = await newTerminal(wire, { command: "sleep 60", isolation });
    await waitForExit();
    expect((await summary()).reason).toBe("wall_clock_limit");
  });
});

describe("what was not asked for, or is not known,", () => {
  test("is refused with the name of the field", async () => {
    const message = async (isolation: unknown, method = "session.create") => {
      const error = await wire.fail(method, { isolation });
      expect(error.code).toBe("INVALID_PARAMS");
      return error.message;
    };
    expect(await message({ limit: {} })).toBe('isolation.limit: no such field; is it meant to be "limits"?');
    expect(await message({ limits: { pidz: 1 } }, "pty.create")).toBe(
      'isolation.limits.pidz: no such field; is it meant to be "pids"?',
    );
    expect(await message({ limits: { pids: 0 } })).toBe(
      "isolation.limits.pids: expected at least 1 processes",
    );
    expect(await message({ limits: { pids: 1.5 } })).toContain(
      "isolation.limits.pids: expected a whole number",
    );
    expect(await message({ limits: { memory_bytes: "64M" } })).toBe(
      "isolation.limits.memory_bytes: expected number, got a string",
    );
    expect(await message({ limits: { open_files: 3 } })).toContain(
      "isolation.limits.open_files: expected at least 16",
    );
    expect(await message("all")).toContain("isolation: expected");
    expect(await message({ sandbox: { writable: ["relative"] } })).toContain("an absolute path");
    expect(await message({ sandbox: { network: "off" } })).toContain(
      "isolation.sandbox.network: expected boolean",
    );
  });

  test("null and empty count as not given", async () => {
    const { id, out } = await newSession(wire, { isolation: { limits: null, root: null, sandbox: null } });
    expect(await out("echo ok")).toBe("ok");
    expect((await wire.call("session.info", { session_id: id })).isolation).toBeNull();
    const empty = await newSession(wire, { isolation: {} });
    expect((await wire.call("session.info", { session_id: empty.id })).isolation).toBeNull();
  });
});

describe("control groups", () => {
  test("are made for nobody who does not ask", async () => {
    await using own = await startDaemon();
    using client = await own.connect();
    const session = await newSession(client);
    await session.run("sleep 1000 &");
    const terminal = await newTerminal(client);
    expect(cgroupsOf(own.pid)).toEqual([]);
    for (const { id } of [session, terminal])
      expect((await client.call("session.info", { session_id: id })).isolation).toBeNull();
  });

  needs("limits").test("are gone with their sessions, and with the daemon", async () => {
    await using own = await startDaemon();
    using client = await own.connect();
    const isolation = { limits: { pids: 50 } };
    const session = await newSession(client, { isolation });
    const terminal = await newTerminal(client, { isolation });
    await session.run("sleep 1000 &");
    const groups = cgroupsOf(own.pid);
    expect(groups).not.toBeEmpty();
    const sessions = () => groups.filter((group) => existsSync(`${group}/1`) || existsSync(`${group}/2`));
    expect(sessions().length).toBeGreaterThan(0);
    await client.call("session.destroy", { session_id: session.id });
    await client.call("pty.close", { session_id: terminal.id });
    expect(sessions()).toEqual([]);
    await newSession(client, { isolation });
    own.kill("SIGTERM");
    expect(await own.exited).toBe(0);
    expect(cgroupsOf(own.pid).filter((group) => !group.endsWith(".daemon"))).toEqual([]);
  });

  needs("limits").test(
    "of a daemon that was killed are removed by the next one, with who is in them",
    async () => {
      await using killed = await startDaemon();
      using client = await killed.connect();
      const isolation = { limits: { pids: 50 } };
      const { out } = await newSession(client, { isolation });
      const pid = Number(await out("env -i setsid sleep 1000 >/dev/null 2>&1 & echo $!"));
      expect(isAlive(pid)).toBeTrue();
      killed.kill("SIGKILL");
      await killed.exited;
      expect(cgroupsOf(killed.pid)).not.toBeEmpty();
      await using next = await startDaemon();
      expect(next.pid).not.toBe(killed.pid);
      // It listens first, and cleans up then.
      await until("its groups to be gone", () => cgroupsOf(killed.pid).length === 0);
      expect(isAlive(pid)).toBeFalse();
    },
  );
});
