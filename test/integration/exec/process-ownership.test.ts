// To which session a process belongs, and that none of it is left: also where it has cleared its environment, where there
// are very many, and where one cannot be killed.
import { expect } from "bun:test";
import { chmodSync, copyFileSync, existsSync, readFileSync } from "node:fs";
import { startDaemon, startHere } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { anotherUid } from "../../support/other-user.ts";
import { allProcesses, endAll, isAlive } from "../../support/processes.ts";
import { newSession } from "../../support/session.ts";
import { until } from "../../support/wait.ts";

const { test } = needs("linux");

const pidIn = (file: string): Promise<number> =>
  until(`a pid in ${file}`, () => (existsSync(file) ? Number(readFileSync(file, "utf8")) : undefined));

/** Leaves its parents, its group and its environment behind, and its pid in a file. */
const escaping = (file: string) =>
  `(env -i setsid sh -c '(setsid sh -c "echo \\$\\$ >${file}; exec sleep 1000") & exit' &)`;

test("an orphan without an environment dies with its session, whatever other sessions do", async () => {
  await using daemon = await startDaemon();
  using wire = await daemon.connect();
  const [busy, idle] = [await newSession(wire), await newSession(wire)];
  const { leftovers } = await idle.run("sleep 1000 &");
  await wire.call("exec.stream", { session_id: busy.id, command: "sleep 1000", timeout_s: 0 });
  for (let i = 0; i < 5; i++) {
    const session = await newSession(wire);
    const file = `${daemon.dir}/pid${i}`;
    const result = await session.run(`${escaping(file)}; until [ -s ${file} ]; do sleep 0.01; done`);
    const pid = await pidIn(file);
    expect(result.leftovers.map((left) => left.pid)).toEqual([pid]);
    expect((await wire.call("session.info", { session_id: session.id })).receipt.leftovers).toBe(1);
    expect(await wire.call("session.destroy", { session_id: session.id })).toEqual({
      session_id: session.id,
      state: "terminated",
    });
    expect(isAlive(pid)).toBe(false);
  }
  expect(isAlive(leftovers[0]!.pid)).toBe(true);
});

test("and with a command that is stopped, and with its terminal", async () => {
  await using daemon = await startDaemon();
  using wire = await daemon.connect();
  const [other, session] = [await newSession(wire), await newSession(wire)];
  await other.run("sleep 1000 &");
  const earlier = (await session.run("sleep 1000 &")).leftovers[0]!.pid;
  const [ofCommand, ofTerminal] = [`${daemon.dir}/command`, `${daemon.dir}/terminal`];
  const command = `${escaping(ofCommand)}; until [ -s ${ofCommand} ]; do sleep 0.01; done; sleep 60`;
  const { code } = await wire.fail("exec.run", { session_id: session.id, command, timeout_s: 1 });
  expect(code).toBe("COMMAND_TIMEOUT");
  expect(isAlive(await pidIn(ofCommand))).toBe(false);
  expect(isAlive(earlier)).toBe(true);
  for (const driver of ["native", "bun-pty"] as const) {
    const file = `${ofTerminal}-${driver}`;
    const terminal = await wire.call("pty.create", { driver, command: `${escaping(file)}; sleep 1000` });
    const pid = await pidIn(file);
    await wire.call("session.destroy", { session_id: terminal.session_id });
    expect(isAlive(pid)).toBe(false);
  }
});

test("a program sees nothing of its mark but one limit that the kernel does not enforce", async () => {
  await using daemon = await startDaemon();
  using wire = await daemon.connect();
  const { out } = await newSession(wire);
  const limitsOf = (text: string) => {
    const lines = text.split("\n").map((line) => line.trimEnd());
    // Bun raises the number of open files.
    return lines.filter((line) => line !== "" && !/^Max (?:file locks|open files)/.test(line));
  };
  const locksOf = (pid: number | "self") =>
    /^Max file locks.*$/m.exec(readFileSync(`/proc/${pid}/limits`, "utf8"))?.[0];
  expect(limitsOf(await out("cat /proc/self/limits"))).toEqual(
    limitsOf(readFileSync("/proc/self/limits", "utf8")),
  );
  expect(await out("grep 'file locks' /proc/self/limits")).toMatch(/^Max file locks +\d+ +unlimited/);
  expect(locksOf(daemon.pid)).toBe(locksOf("self"));
});

needs("linux", "python3").test(
  "a process whose first thread has ended is alive, and dies with its session",
  async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const session = await newSession(wire);
    const program = `import ctypes, os, threading, time
threading.Thread(target=lambda: time.sleep(1000)).start()
print(os.getpid(), flush=True)
ctypes.CDLL(None).pthread_exit(None)`;
    const { stdout } = await session.run(
      `setsid python3 -c '${program}' >${daemon.dir}/pid & until [ -s ${daemon.dir}/pid ]; do sleep 0.01; done; cat ${daemon.dir}/pid`,
    );
    const pid = Number(stdout);
    await until("the end of its first thread", () => stateOf(pid) === "Z");
    expect((await wire.call("session.info", { session_id: session.id })).receipt.leftovers).toBe(1);
    await wire.call("session.destroy", { session_id: session.id });
    expect(stateOf(pid)).toBeUndefined();
  },
);

const stateOf = (pid: number) => allProcesses().find((known) => known.pid === pid)?.state;

/** Processor time of the daemon's one thread, in ms. */
const cpuMs = (pid: number) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;

needs("linux", "python3").test(
  "thousands that ignore SIGTERM: all dead at the reply, and other clients are served meanwhile",
  async () => {
    await using daemon = await startHere();
    using wire = await daemon.connect();
    using other = await daemon.connect();
    const session = await newSession(wire);
    const program = `import os, signal
for name in (signal.SIGTERM, signal.SIGHUP): signal.signal(name, signal.SIG_IGN)
for i in range(1500):
  if os.fork() == 0:
    if i % 2: os.setsid()
    while True: signal.pause()`;
    const { leftovers } = await session.run(`python3 -c '${program}' >/dev/null 2>&1`, { timeout_s: 0 });
    expect(leftovers.length).toBe(1500);
    let isOver = false;
    const destroyed = wire.call("session.destroy", { session_id: session.id }).finally(() => {
      isOver = true;
    });
    // By the daemon's own work and not by the clock: the machine may be busy with others.
    const before = cpuMs(daemon.pid);
    let stalledMs = 0;
    while (!isOver) {
      const began = cpuMs(daemon.pid);
      await other.call("system.ping", {});
      const workedMs = cpuMs(daemon.pid) - began;
      if (workedMs > 50) stalledMs += workedMs;
    }
    expect(await destroyed).toEqual({ session_id: session.id, state: "terminated" });
    expect(leftovers.filter(({ pid }) => isAlive(pid))).toEqual([]);
    expect(stalledMs).toBeLessThan((cpuMs(daemon.pid) - before) / 2);
  },
  60_000,
);

needs("linux", "setuid programs").test("what cannot be killed is named in the reply", async () => {
  await using daemon = await startHere({ uid: anotherUid });
  using wire = await daemon.connect();
  const session = await newSession(wire);
  const program = `${daemon.dir}/become-root`;
  copyFileSync(Bun.which("setpriv")!, program);
  chmodSync(program, 0o4755);
  const command = `setsid ${program} --reuid=0 --regid=0 --clear-groups sleep ${anotherUid}.5 & sleep 1000`;
  await wire.call("exec.stream", { session_id: session.id, command, timeout_s: 0 });
  const pid = await until("root's process", () => processesNamed(`sleep ${anotherUid}.5`)[0]);
  try {
    const reply = await wire.call("session.destroy", { session_id: session.id, force: true });
    expect(reply).toEqual({ session_id: session.id, state: "terminated", left: [pid] });
    expect(isAlive(pid)).toBe(true);
    const line = `a process could not be killed session=${session.id} pid=${pid}`;
    await until("the log", () => daemon.log().includes(line));
  } finally {
    await endAll([pid]);
  }
});

/** By their whole command line. */
const processesNamed = (args: string) =>
  allProcesses().flatMap((known) => (known.args === args ? [known.pid] : []));

test("an adopted process that ends is reaped at once", async () => {
  // Without a journal nothing else looks at processes but once in a second.
  await using daemon = await startHere({ flags: ["--journal=off"] });
  using wire = await daemon.connect();
  const session = await newSession(wire);
  const { leftovers } = await session.run("for i in $(seq 12); do setsid sleep 1000 & done");
  expect(leftovers.length).toBe(12);
  const began = performance.now();
  for (const { pid } of leftovers) {
    process.kill(pid, "SIGKILL");
    await until("its wait status to be taken", () => stateOf(pid) === undefined);
  }
  expect(performance.now() - began).toBeLessThan(6000);
  expect((await wire.call("system.stats", {})).leftover_processes).toBe(0);
});
