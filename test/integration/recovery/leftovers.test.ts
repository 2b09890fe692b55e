// A daemon that is killed leaves everything behind. The next one on the same socket ends it, and touches nobody else's.
import { expect } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Isolation } from "../../../src/protocol/isolation.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { cgroupsOf } from "../../support/isolation.ts";
import { needs } from "../../support/needs.ts";
import { endAll, isAlive, listProcesses, processesWith } from "../../support/processes.ts";
import { binary, shellBinary } from "../../support/program.ts";
import { newSession } from "../../support/session.ts";
import { startOn } from "../../support/successor.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { upgrade } from "../../support/upgrade.ts";
import { until } from "../../support/wait.ts";
import { Wire } from "../../support/wire.ts";

/** Escapees are started by setsid, and looked for in /proc. */
const { test } = needs("linux");

let marks = 0;
/** A number of seconds that nobody else sleeps for. */
const newMark = () => `${20_000_000 + process.pid}.${++marks}`;

async function killed(daemon: TestDaemon): Promise<void> {
  daemon.kill("SIGKILL");
  await daemon.exited;
}

const dirsOf = (pid: number) =>
  ["/dev/shm", tmpdir()].flatMap((cwd) => [
    ...new Bun.Glob(`trl-${pid}-*`).scanSync({ cwd, onlyFiles: false }),
  ]);

const journalOf = ({ socketPath }: { socketPath: string }) => socketPath.replace(".sock", ".journal");

/** In sessions of every kind; resolves when all of it runs. */
async function startALot(wire: Wire, mark: string, isolations: Isolation[]): Promise<void> {
  const commands = [
    ...Array.from({ length: 12 }, () => `sleep ${mark}`),
    ...Array.from(
      { length: 3 },
      () => `trap '' TERM HUP INT; sleep ${mark} & while :; do sleep ${mark}; done`,
    ),
    `setsid nohup sleep ${mark} >/dev/null 2>&1 & sleep ${mark}`,
    `(setsid sh -c 'trap "" TERM; sleep ${mark} & wait; sleep ${mark}' >/dev/null 2>&1 &); sleep ${mark}`,
    `exec env -i /bin/sleep ${mark}`,
    `sleep ${mark} & kill -STOP $!; wait`,
    `sleep ${mark} | cat`,
  ];
  for (const command of commands) {
    const { id } = await newSession(wire);
    await wire.call("exec.stream", { session_id: id, command, timeout_s: 0 });
  }
  for (const isolation of isolations) {
    const { id } = await newSession(wire, { isolation });
    const command = `env -i setsid sleep ${mark} & sleep ${mark}`;
    await wire.call("exec.stream", { session_id: id, command, timeout_s: 0 });
  }
  for (const driver of ["native", "bun-pty"] as const) {
    const command = `trap '' HUP TERM; setsid nohup sleep ${mark} >/dev/null 2>&1 & sleep ${mark}`;
    await wire.call("pty.create", { driver, command });
  }
  const expected = 12 + 3 * 2 + 2 + 2 + 1 + 1 + 1 + isolations.length * 2 + 2 * 2;
  await until("all of them", () => sleepersOf(mark).length >= expected);
}

const isNoted = (daemon: { socketPath: string }, pid: number | undefined) =>
  existsSync(journalOf(daemon)) && readFileSync(journalOf(daemon), "utf8").includes(`[${pid},"`);

/** Itself, and no shell that speaks of it. */
const sleeperOf = (mark: string) => listProcesses().find(({ args }) => args === `sleep ${mark}`)?.pid;

const sleepersOf = (mark: string) => processesWith(`sleep ${mark}`);

test("20 commands, terminals and escapees: all dead, and nobody else", () => expectAllDead([]));

needs("limits", "sandbox").test("and so are sandboxes and what is limited", () =>
  expectAllDead([{ sandbox: {} }, { limits: { pids: 50 } }]),
);

async function expectAllDead(isolations: Isolation[]): Promise<void> {
  await using other = await startDaemon();
  using otherWire = await other.connect();
  const otherMark = newMark();
  const neighbour = await newSession(otherWire);
  await neighbour.run(`setsid sleep ${otherMark} >/dev/null 2>&1 &`);
  const neighbours = await until("the neighbour's", () => sleepersOf(otherMark)[0]);

  await using first = await startDaemon();
  using wire = await first.connect();
  const mark = newMark();
  await startALot(wire, mark, isolations);
  // It has no tag any more, so that it is known by the daemon's notes alone.
  const untagged = await until("the one without a tag", () => processesWith(`/bin/sleep ${mark}`)[0]);
  const journal = () => readFileSync(journalOf(first), "utf8");
  await until("it to be noted", () => journal().includes(`[${untagged},"`));
  await killed(first);
  await using next = await startOn(first.socketPath, { flags: ["--verbose"] });
  using again = await next.connect();
  await again.call("system.ping", {});
  const session = await newSession(again);
  expect(await session.out("echo at once")).toBe("at once");
  await until("their end", () => sleepersOf(mark).length === 0);
  const ended = /had left processes=(\d+) durationMs=\d+/;
  const [, processes] = await until("the log", () => ended.exec(next.log()));
  expect(Number(processes)).toBeGreaterThan(25);
  expect(next.log()).toMatch(/left by a killed daemon pid=\d+/);
  expect(cgroupsOf(first.pid).filter((group) => !group.endsWith(".daemon"))).toEqual([]);
  expect(dirsOf(first.pid)).toEqual([]);
  expect(isAlive(neighbours)).toBeTrue();
  expect(await neighbour.out("echo here")).toBe("here");
  expect(await session.out("echo still here")).toBe("still here");
}

test("a tag, a pid, a note: only what is all of a dead daemon's own is ended", () => expectOwnAlone());

needs("mount").test("nor is what has the pid of a dead daemon in another namespace", () =>
  expectOwnAlone(true),
);

async function expectOwnAlone(isApart = false): Promise<void> {
  await using first = await startDaemon();
  using wire = await first.connect();
  await newSession(wire).then(({ run }) => run("true"));
  const sleeper = (env: Record<string, string>) =>
    Bun.spawn(["sleep", newMark()], { env: { ...env, PATH: process.env["PATH"] }, detached: true });
  const dead = Bun.spawn(["true"]);
  await dead.exited;
  const { socketPath, pid } = first;
  const spared = [
    { TRL_DAEMON: `${pid}:${socketPath}.other` },
    { TRL_DAEMON: `${dead.pid}:${socketPath}` },
    { TRL_DAEMON: `${process.pid}:${socketPath}` },
    { TRL_DAEMON: `${process.pid}:stdio` },
    { ANOTHER: `${pid}:${socketPath}` },
  ].map(sleeper);
  // In another namespace the pid in a tag is another's.
  const elsewhere = newMark();
  const apart = ["unshare", "--pid", "--fork", "env", `TRL_DAEMON=${pid}:${socketPath}`, "sleep", elsewhere];
  if (isApart) {
    spared.push(Bun.spawn(apart, { detached: true, stderr: "inherit" }));
    await until("it", () => processesWith(`sleep ${elsewhere}`).length === 2);
  }
  const left = [{ TRL_DAEMON: `${pid}:${socketPath}` }, { TRL_DAEMON: `${dead.pid}:stdio` }].map(sleeper);
  const [noted, reused] = [sleeper({}), sleeper({})];
  await until("its journal", () => existsSync(journalOf(first)));
  await killed(first);
  const startTimeOf = (it: number) => readFileSync(`/proc/${it}/stat`, "utf8").split(") ")[1]!.split(" ")[19];
  const { world } = JSON.parse(readFileSync(journalOf(first), "utf8").split("\n")[1]!);
  const processes = [
    [noted!.pid, startTimeOf(noted!.pid)],
    [reused!.pid, "1"],
  ];
  writeFileSync(journalOf(first), `${JSON.stringify({ world, processes })}\n`, { flag: "a" });
  await using next = await startOn(socketPath);
  await Promise.all([...left, noted!].map(({ exited }) => exited));
  // Of the one on standard input any daemon that starts is an heir: another test's may have come before ours.
  await until("the log", () => /processes=[23]\b/.test(next.log()));
  expect([...spared, reused!].filter((child) => child.exitCode !== null || child.killed)).toEqual([]);
  expect(processesWith(`sleep ${elsewhere}`).length).toBe(isApart ? 2 : 0);
  // The first of a namespace takes no other signal.
  for (const one of processesWith(`sleep ${elsewhere}`)) process.kill(one, "SIGKILL");
  await endAll([...spared, reused!].map((child) => child.pid));
}

test("a daemon that is started by what the killed one has left goes on, with what it starts", async () => {
  await using first = await startDaemon();
  using wire = await first.connect();
  using dir = tempDir();
  const { id } = await newSession(wire);
  const log = join(dir.path, "log");
  const gone = `while readlink /proc/${first.pid}/exe; do :; done`; // while it is dying it counts as alive
  const start = `kill -9 ${first.pid}; ${gone}; TRL_RUNTIME_DIR=${dir.path} ${shellBinary} serve --socket-path ${first.socketPath} --allow-root`;
  const params = { session_id: id, command: `(${start}) >${log} 2>&1`, timeout_s: 0 };
  wire.sendFrame({ id: "1", method: "exec.stream", params }); // there may be nobody left to answer
  await first.exited;
  const read = () => (existsSync(log) ? readFileSync(log, "utf8") : "");
  const pid = Number((await until("the next one", () => /ready .* pid=(\d+) version/.exec(read())))[1]);
  using again = await Wire.connect(first.socketPath);
  const session = await newSession(again);
  const mark = newMark();
  await session.run(`setsid sleep ${mark} >/dev/null 2>&1 &`);
  await until("its exec", () => sleepersOf(mark).length === 1); // on a busy machine it comes after the command's end
  // Its parents were the killed one's, too, but they are who has started it.
  await until("the look to be over", () => dirsOf(first.pid).length === 0);
  expect(await session.out("echo alive")).toBe("alive");
  expect(sleepersOf(mark).length).toBe(1);
  process.kill(pid, "SIGTERM");
  await until("its end", () => !isAlive(pid));
  expect(sleepersOf(mark)).toEqual([]);
});

test("one that is killed while it cleans up leaves it to the next; one that is stopped is done with it first", async () => {
  await using first = await startDaemon();
  using wire = await first.connect();
  const mark = newMark();
  const { run } = await newSession(wire);
  await run(
    `for i in 1 2 3; do setsid sh -c 'trap "" TERM; sleep ${mark} & wait; wait' >/dev/null 2>&1 & done`,
  );
  const hidden = newMark(); // no tag, and no parents: known by the notes alone
  await run(`env -i setsid sh -c '(trap "" TERM; exec sleep ${hidden} >/dev/null 2>&1) & exit'`);
  await until("them", () => sleepersOf(mark).length >= 6);
  await until("it to be noted", () => isNoted(first, sleeperOf(hidden)));
  await killed(first);
  const second = await startOn(first.socketPath);
  await until("its journal", () => existsSync(journalOf(first)));
  await until("its predecessor in it", () =>
    readFileSync(journalOf(first), "utf8").includes(`"daemons":[${second.pid},${first.pid}]`),
  );
  second.kill("SIGKILL");
  await second.exited;
  const third = await startOn(first.socketPath);
  await third[Symbol.asyncDispose]();
  expect([...sleepersOf(mark), ...sleepersOf(hidden)]).toEqual([]);
  expect(existsSync(journalOf(first))).toBeFalse();
});

test("nothing of a daemon that lives is touched, also where its socket and its pid file were removed", async () => {
  await using first = await startDaemon();
  using wire = await first.connect();
  const mark = newMark();
  const { id } = await newSession(wire);
  await wire.call("exec.stream", { session_id: id, command: `sleep ${mark}`, timeout_s: 0 });
  await wire.call("pty.create", { command: `exec sleep ${mark}` });
  await until("both", () => sleepersOf(mark).length >= 2 && sleepersOf(mark).every((pid) => isAlive(pid)));
  const { pid } = (await wire.call("pty.list", {})).sessions[0]!;
  await until("them to be noted", () => isNoted(first, pid));
  const before = sleepersOf(mark);
  for (const ending of [".sock", ".pid"]) rmSync(first.socketPath.replace(".sock", ending));
  const second = await startOn(first.socketPath);
  using other = await second.connect();
  expect((await other.call("exec.list", {})).streams).toEqual([]); // none is lost
  await second[Symbol.asyncDispose](); // when it is over, so is its look
  expect(sleepersOf(mark)).toEqual(before);
  expect((await wire.call("exec.list", { state: "running" })).streams.length).toBe(1);
  expect((await wire.call("pty.list", { state: "running" })).sessions.length).toBe(1);
});

/** Without a tag, in a session of its own, and nobody's child. */
const escaping = (mark: string) => `env -i setsid sh -c 'sleep ${mark} >/dev/null 2>&1 & exit'`;

test("what has cleared its environment is noted while its command runs, and when it has ended", async () => {
  await using first = await startDaemon();
  using wire = await first.connect();
  const marks = Array.from({ length: 7 }, newMark);
  for (const mark of marks.slice(1)) {
    const { id } = await newSession(wire);
    const command = `${escaping(mark)}; sleep 1000`;
    await wire.call("exec.stream", { session_id: id, command, timeout_s: 0 });
    await until("it to be noted", () => isNoted(first, sleeperOf(mark)));
  }
  const { run } = await newSession(wire);
  await run(escaping(marks[0]!));
  await until("it to be noted", () => isNoted(first, sleeperOf(marks[0]!)));
  await killed(first);
  const next = await startOn(first.socketPath);
  await next[Symbol.asyncDispose]();
  expect(marks.flatMap(sleepersOf)).toEqual([]);
});

test("one that is killed right after an upgrade has noted what it took over", async () => {
  await using first = await startDaemon();
  using wire = await first.connect();
  const mark = newMark();
  const { run } = await newSession(wire);
  await run(escaping(mark));
  await until("it to be noted", () => isNoted(first, sleeperOf(mark)));
  expect(await upgrade(first)).toMatchObject({ ok: true });
  await killed(first);
  const next = await startOn(first.socketPath);
  await next[Symbol.asyncDispose]();
  expect(sleepersOf(mark)).toEqual([]);
});

needs("linux").test(
  "what has cleared its environment is known by its mark where nothing was noted",
  async () => {
    const flags = ["--journal", "off"];
    await using first = await startDaemon({ flags });
    await using other = await startDaemon({ flags });
    const [mark, otherMark] = [newMark(), newMark()];
    for (const [daemon, seconds] of [
      [first, mark],
      [other, otherMark],
    ] as const) {
      using wire = await daemon.connect();
      const { run } = await newSession(wire);
      await run(escaping(seconds));
    }
    await until("both", () => sleeperOf(mark) && sleeperOf(otherMark));
    await killed(first);
    const next = await startOn(first.socketPath, { flags });
    await next[Symbol.asyncDispose]();
    expect(sleepersOf(mark)).toEqual([]);
    expect(sleepersOf(otherMark).length).toBe(1);
  },
);

needs("linux").test("and so is that of a daemon on standard input", async () => {
  using dir = tempDir();
  const mark = newMark();
  const daemon = Bun.spawn([binary, "serve", "--stdin", "--allow-root"], {
    env: { PATH: process.env["PATH"], TMPDIR: dir.path, TRL_RUNTIME_DIR: dir.path },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const ask = (method: string, params: object) => {
    daemon.stdin.write(`${JSON.stringify({ id: 1, method, params })}\n`);
    daemon.stdin.flush();
  };
  const replies = daemon.stdout.getReader();
  ask("session.create", {});
  const { session_id } = JSON.parse(new TextDecoder().decode((await replies.read()).value)).data;
  ask("exec.run", { session_id, command: escaping(mark) });
  await until("it", () => sleeperOf(mark));
  daemon.kill("SIGKILL");
  await daemon.exited;
  const next = await startOn(join(dir.path, "trl.sock"));
  await next[Symbol.asyncDispose]();
  expect(sleepersOf(mark)).toEqual([]);
});

test("what merely has the name of a daemon's directory is left alone", async () => {
  using dir = tempDir();
  const flags = ["--run-dir", dir.path];
  const [backup, note] = ["trl-3999999-backup", "trl-3999998-note12"].map((name) => join(dir.path, name));
  mkdirSync(backup!, { mode: 0o700 });
  writeFileSync(join(backup!, "precious"), "data");
  writeFileSync(note!, "data");
  const first = await startOn(join(dir.path, "trl.sock"), { flags });
  const ofFirst = () => readdirSync(dir.path).filter((name) => name.startsWith(`trl-${first.pid}-`));
  expect(ofFirst().length).toBe(1);
  first.kill("SIGKILL");
  await first.exited;
  await using _next = await startOn(join(dir.path, "trl.sock"), { flags });
  await until("the killed one's directory to be gone", () => ofFirst().length === 0);
  expect(readFileSync(join(backup!, "precious"), "utf8")).toBe("data");
  expect(readFileSync(note!, "utf8")).toBe("data");
});

test("a trl run that is killed leaves no directory of its own daemon", async () => {
  using dir = tempDir();
  const mark = newMark();
  const child = Bun.spawn([binary, "run", "--socket-path", join(dir.path, "none.sock"), `sleep ${mark}`], {
    env: { PATH: process.env["PATH"], TMPDIR: dir.path, XDG_RUNTIME_DIR: dir.path },
    stdio: ["ignore", "ignore", "ignore"],
  });
  await until("the command", () => sleepersOf(mark).some((pid) => pid !== child.pid));
  const hasToken = (name: string) => existsSync(join(dir.path, name, "trl.token"));
  await until("a directory with a token", () => readdirSync(dir.path).some(hasToken));
  child.kill("SIGKILL");
  await child.exited;
  await until("everything to be gone", () => readdirSync(dir.path).length === 0);
  expect(sleepersOf(mark)).toEqual([]);
});
