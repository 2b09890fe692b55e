// An upgrade keeps what runs: sessions, commands and terminals continue with the same pids, and no output is lost.
import { expect } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "../../../src/client/connect.ts";
import { version } from "../../../src/util/version.ts";
import { commandLine } from "../../support/command-line.ts";
import { startHere, type TestDaemon } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { isAlive } from "../../support/processes.ts";
import { newSession } from "../../support/session.ts";
import { newTerminal, Watcher } from "../../support/terminal.ts";
import { descriptorsOf, upgrade } from "../../support/upgrade.ts";
import { until } from "../../support/wait.ts";
import type { Wire } from "../../support/wire.ts";

/** On other systems an upgrade is a restart. */
const { describe, test } = needs("linux");

const ids = {
  past: "x-00000001",
  slow: "x-00000002",
  limited: "x-00000003",
  inside: "x-00000004",
  through: "x-00000005",
};
const secret = "s3cret-of-the-session";

/** Starts a command that the test asks for again after the upgrade. */
async function startRun(wire: Wire, session_id: string, command_id: string, command: string, more = {}) {
  wire.sendFrame({
    id: command_id,
    method: "exec.stream",
    params: { session_id, command, command_id, ...more },
  });
  await until(`${command_id} runs`, async () =>
    (await wire.call("exec.list", { state: "running" })).streams.some(
      ({ stream_id }) => stream_id === command_id,
    ),
  );
}

test("variables with the names of object properties are kept", async () => {
  await using daemon = await startHere();
  using wire = await daemon.connect();
  const env = JSON.parse('{"__proto__":"one","constructor":"two"}');
  const session = await newSession(wire, { env, stateful: false });
  expect(await upgrade(daemon)).toMatchObject({ ok: true });
  using after = await daemon.connect();
  const params = { session_id: session.id, command: "printenv __proto__ constructor" };
  expect((await after.call("exec.run", params)).stdout).toBe("one\ntwo\n");
});

test("a line that reports its directory alone reports it to the new executable", async () => {
  await using daemon = await startHere();
  using wire = await daemon.connect();
  const { id, out } = await newSession(wire, { shell: "/bin/bash" });
  await out("x=1; f() { echo f; }");
  await startRun(wire, id, ids.slow, "head -n 1 | cat; cd /usr && ls -d .", { open_stdin: true });
  expect(await upgrade(daemon)).toMatchObject({ ok: true });
  using after = await daemon.connect();
  await after.call("exec.write", { stream_id: ids.slow, data: "line\n" });
  expect(await after.call("exec.wait", { stream_id: ids.slow })).toMatchObject({ stdout: "line\n.\n" });
  const state = { session_id: id, command: "echo $x; f; pwd" };
  expect((await after.call("exec.run", state)).stdout).toBe("1\nf\n/usr\n");
});

test("sessions, commands and terminals continue in the new executable", async () => {
  await using daemon = await startHere({ flags: ["--http", "127.0.0.1:0"], env: { TRL_AUTH_TOKEN: "word" } });
  using wire = await daemon.connect();
  const kept = await newSession(wire, { name: "kept", env: { SECRET: secret } });
  await kept.run("cd /usr; export X=41; f() { echo \"f of $X\"; }; alias hey='echo hey'; umask 027");
  const background = await kept.run("sleep 300 & echo $!");
  const sleeper = Number(background.stdout);
  const gone = await wire.call("exec.run", {
    session_id: kept.id,
    command: "echo printed; exit 3",
    command_id: ids.past,
  });
  const busy = await newSession(wire);
  await startRun(wire, busy.id, ids.slow, `read a; echo "got $a"; cd /var; echo late >&2; exit 7`, {
    open_stdin: true,
  });
  const limited = await newSession(wire);
  await startRun(wire, limited.id, ids.limited, "echo begun; sleep 60", { timeout_s: 3 });
  const shell = await newTerminal(wire, {
    name: "desk",
    command: "bash",
    args: ["--norc"],
    cols: 60,
    rows: 10,
  });
  await shell.waitFor("$ ");
  await shell.type("Y=77; echo here $((6 * 7))\n");
  await shell.waitFor("here 42\n$ ");
  const screen = (await shell.snapshot()).lines;
  const ended = await newTerminal(wire, { command: "printf 'last words'; exit 4" });
  await ended.waitForExit();

  const http = /http=(\S+)/.exec(daemon.log())![1]!;
  const headers = { authorization: "Bearer word" };
  const { ticket } = (await (await fetch(`${http}/ticket`, { method: "POST", headers })).json()) as {
    ticket: string;
  };
  expect(await upgrade(daemon)).toMatchObject({ ok: true, from_version: version, to_version: version });

  using after = await daemon.connect();
  expect(await after.call("system.stats", {})).toMatchObject({
    pid: daemon.pid,
    upgrades: 1,
    active_sessions: 4,
  });
  const list = await after.call("session.list", {});
  expect(list.sessions.map(({ session_id, name }) => [session_id, name])).toEqual([
    [kept.id, "kept"],
    [busy.id, null],
    [limited.id, null],
    [shell.id, "desk"],
  ]);
  // The session's state, and its leftover process.
  const run = (session_id: string, command: string) => after.call("exec.run", { session_id, command });
  expect((await run(kept.id, "pwd; f; hey; umask; echo $SECRET")).stdout).toBe(
    `/usr\nf of 41\nhey\n0027\n${secret}\n`,
  );
  expect(isAlive(sleeper)).toBe(true);
  expect((await after.call("session.info", { session_id: kept.id })).receipt.leftovers).toBe(1);
  // An ended command, a running command that gets its input now, and a command that reaches its time limit.
  expect(await after.call("exec.wait", { stream_id: ids.past })).toEqual(gone);
  await after.call("exec.write", { stream_id: ids.slow, data: "input\n" });
  expect(await after.call("exec.wait", { stream_id: ids.slow })).toMatchObject({
    ...{ stdout: "got input\n", stderr: "late\n", exit_code: 7, reason: "exit", working_dir: "/var" },
    receipt: { measured_by: "process" },
  });
  const { code, data } = await after.fail("exec.wait", { stream_id: ids.limited });
  expect([code, data!["stdout"], data!["reason"]]).toEqual(["COMMAND_TIMEOUT", "begun\n", "timeout"]);
  expect(data!["duration_ms"]).toBeGreaterThanOrEqual(2900);
  // The terminal: its screen, its shell, its size, its end.
  const desk = { session_id: shell.id };
  expect((await after.call("pty.snapshot", desk)).lines).toEqual(screen!);
  await after.call("pty.resize", { ...desk, cols: 70, rows: 12 });
  await after.call("pty.write", { ...desk, data: "echo $Y $$ $(stty size); exit 9\n" });
  await after.call("pty.wait", { ...desk, until: { exit: true }, timeout_s: 15 });
  expect((await after.call("pty.snapshot", desk)).lines?.join("\n")).toContain(`77 ${shell.pid} 12 70`);
  const terminals = (await after.call("pty.list", { state: "exited" })).sessions;
  expect(terminals.map(({ session_id, exit_code }) => [session_id, exit_code]).sort()).toEqual(
    [
      [ended.id, 4],
      [shell.id, 9],
    ].sort(),
  );
  expect((await after.call("pty.snapshot", { session_id: ended.id })).lines?.[0]).toBe("last words");
  // The port, the token and a ticket from before.
  expect((await fetch(`${http}/metrics`, { headers })).status).toBe(200);
  const socket = new WebSocket(`${http.replace("http", "ws")}/ws?ticket=${ticket}`);
  await new Promise((resolve, reject) => Object.assign(socket, { onopen: resolve, onerror: reject }));
  socket.close();
  // Other processes cannot read the state.
  for (const file of ["environ", "cmdline"])
    expect(readFileSync(`/proc/${daemon.pid}/${file}`, "latin1")).not.toContain(secret);
  expect(daemon.log()).not.toContain(secret);
  await after.call("session.destroy", { session_id: kept.id });
  expect(isAlive(sleeper)).toBe(false);
});

test("no byte of a stream or a terminal is lost or duplicated by upgrades", async () => {
  await using daemon = await startHere();
  await using trl = await connect(daemon.socketPath, { patienceS: 60 }); // longer than any upgrade on a busy machine
  await using session = await trl.session({});
  const count = 2_000_000;
  using wire = await daemon.connect();
  const lines = 200_000;
  const flood = await newTerminal(wire, { command: `stty -onlcr; seq ${lines}; sleep 0.2; exit 5` });
  await using other = await trl.session({});
  const gathered = other.run("echo begun; sleep 2; echo over; exit 4");
  const hash = new Bun.CryptoHasher("sha256");
  const stream = session.stream(`seq ${count}; echo done >&2; exit 6`, { encoding: "bytes" });
  let bytes = 0;
  let upgrades = Promise.resolve();
  for await (const { type, data } of stream) {
    if (type === "stdout") hash.update(data);
    if (bytes === 0)
      upgrades = (async () => {
        for (let done = 0; done < 2; done++) expect(await upgrade(daemon)).toMatchObject({ ok: true });
      })();
    bytes += data.length;
  }
  expect((await stream.exited).exitCode).toBe(6);
  const expected = Bun.spawnSync(["sh", "-c", `seq ${count} | sha256sum`])
    .stdout.toString()
    .split(" ")[0];
  expect(hash.digest("hex")).toBe(expected!);
  expect(await gathered).toMatchObject({ stdout: "begun\nover\n", exitCode: 4 });
  await upgrades;
  using after = await daemon.connect();
  const watcher = await Watcher.subscribe(after, { session_id: flood.id, from: 0 });
  expect((await watcher.untilExit())["exit_code"]).toBe(5);
  expect(watcher.isExact).toBe(true);
  expect(
    watcher.all.equals(Buffer.from(Array.from({ length: lines }, (_, at) => `${at + 1}\n`).join(""))),
  ).toBe(true);
});

needs("limits", "sandbox").test("a session stays in its sandbox and within its limits", async () => {
  await using daemon = await startHere();
  using wire = await daemon.connect();
  const isolation = { sandbox: {}, limits: { pids: 64, memory_bytes: 256 * 1024 * 1024 } };
  const { id } = await newSession(wire, { isolation });
  await startRun(wire, id, ids.inside, "echo mine >/tmp/own; read a; cat /tmp/own; touch /usr/x", {
    open_stdin: true,
  });
  const before = await wire.call("session.info", { session_id: id });
  expect(await upgrade(daemon)).toMatchObject({ ok: true });
  using after = await daemon.connect();
  await after.call("exec.write", { stream_id: ids.inside, data: "\n" });
  const inside = await after.call("exec.wait", { stream_id: ids.inside });
  expect([inside.stdout, inside.exit_code, inside.receipt.measured_by]).toEqual(["mine\n", 1, "cgroup"]);
  const { isolation: kept } = await after.call("session.info", { session_id: id });
  expect(kept).toEqual(before.isolation);
  const again = await after.call("exec.run", { session_id: id, command: "cat /tmp/own; ls /tmp | wc -l" });
  expect(again.stdout).toBe("mine\n1\n");
  await after.call("session.destroy", { session_id: id });
});

describe("ten times in a row", () => {
  test("no descriptors leak, and no connection is refused", async () => {
    await using daemon = await startHere();
    using wire = await daemon.connect();
    const { id } = await newSession(wire, { name: "through" });
    await startRun(wire, id, ids.through, "read a; echo $a; exit 8", { open_stdin: true });
    const shell = await newTerminal(wire, { command: "cat" });
    const trl = commandLine(daemon.socketPath);
    const reported = JSON.parse(trl("upgrade", "--json").out);
    expect(reported).toMatchObject({ pid: daemon.pid, from_version: version, upgrades: 1, sessions: 2 });
    const descriptors = descriptorsOf(daemon.pid);
    const connections = connectRepeatedly(daemon);
    const upgrades = 9;
    for (let done = 0; done < upgrades; done++) expect(await upgrade(daemon)).toMatchObject({ ok: true });
    const { refusals, cut } = await connections.end();
    expect(refusals).toEqual([]);
    expect(cut).toBeLessThanOrEqual(upgrades);
    // The lock is still held.
    const second = trl("serve", "--socket-path", daemon.socketPath);
    expect([second.code, second.err]).toEqual([1, expect.stringContaining("a daemon is already running on")]);
    await until("the end of the last connections", () => descriptorsOf(daemon.pid) <= descriptors);
    using after = await daemon.connect();
    expect(await after.call("system.stats", {})).toMatchObject({ upgrades: 10, leftover_processes: 0 });
    await after.call("exec.write", { stream_id: ids.through, data: "all of them\n" });
    expect(await after.call("exec.wait", { stream_id: ids.through })).toMatchObject({
      stdout: "all of them\n",
      exit_code: 8,
    });
    await after.call("pty.write", { session_id: shell.id, data: "still\n" });
    await after.call("pty.wait", { session_id: shell.id, until: { text: "still\nstill" }, timeout_s: 15 });
    await after.call("pty.close", { session_id: shell.id });
    expect(isAlive(shell.pid)).toBe(false);
  });
});

/**
 * Connects again and again. Each upgrade closes at most one connection that the daemon has accepted, since the next one
 * waits in the backlog of the listening socket. If it is closed before Bun reports it as open, `connect` itself fails,
 * with ECONNRESET instead of the ECONNREFUSED of a socket without a listener.
 */
function connectRepeatedly(daemon: TestDaemon) {
  let isOver = false;
  let cut = 0;
  const refusals: string[] = [];
  const running = (async () => {
    while (!isOver) {
      try {
        using wire = await daemon.connect();
        await wire.call("system.ping", {}).catch(() => cut++);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ECONNRESET") cut++;
        else refusals.push(String(error));
      }
      await Bun.sleep(2);
    }
  })();
  return {
    async end() {
      isOver = true;
      await running;
      return { refusals, cut };
    },
  };
}

needs("linux").test(
  "a process without an environment belongs to its session after an upgrade as well",
  async () => {
    await using daemon = await startHere();
    using wire = await daemon.connect();
    const [session, other] = [await newSession(wire), await newSession(wire)];
    await other.run("sleep 1000 &");
    const file = (name: string) => `${daemon.dir}/${name}`;
    const pidIn = (name: string) =>
      until(`a pid in ${name}`, () =>
        existsSync(file(name)) ? Number(readFileSync(file(name), "utf8")) : 0,
      );
    const leaving = (name: string) => `(setsid sh -c "echo \\$\\$ >${file(name)}; exec sleep 1000") & exit`;
    const waiting = `touch ${file("waits")}; until [ -e ${file("go")} ]; do sleep 0.01; done; `;
    await session.run(`(env -i setsid sh -c '${waiting}${leaving("before")}' >/dev/null 2>&1 &)`);
    await until("it to wait", () => existsSync(file("waits")));
    expect(await upgrade(daemon)).toMatchObject({ ok: true });
    using again = await daemon.connect();
    writeFileSync(file("go"), "");
    const command = `(env -i setsid sh -c '${leaving("after")}' >/dev/null 2>&1 &)`;
    await again.call("exec.run", { session_id: session.id, command });
    const pids = await Promise.all([pidIn("before"), pidIn("after")]);
    await again.call("session.destroy", { session_id: session.id });
    expect(pids.filter(isAlive)).toEqual([]);
  },
);
