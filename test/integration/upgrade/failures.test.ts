// Executables that cannot take over, and state that cannot be handed over: the daemon continues unchanged.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { commandLine } from "../../support/command-line.ts";
import { startHere, type TestDaemon } from "../../support/daemon.ts";
import { isAlive } from "../../support/processes.ts";
import { binary, shellBinary } from "../../support/program.ts";
import { newSession, type TestSession } from "../../support/session.ts";
import { startOn } from "../../support/successor.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { newTerminal } from "../../support/terminal.ts";
import { descriptorsOf, script, untilUpgraded, upgrade } from "../../support/upgrade.ts";
import { until } from "../../support/wait.ts";
import type { Wire } from "../../support/wire.ts";

describe("an executable that cannot take over is refused before the upgrade", () => {
  let daemon: TestDaemon;
  let wire: Wire;
  let session: TestSession;
  let commandPid: number;
  beforeAll(async () => {
    daemon = await startHere();
    wire = await daemon.connect();
    session = await newSession(wire, { name: "kept" });
    await session.run("cd /usr; X=41");
    const runner = await newSession(wire);
    await wire.call("exec.stream", { session_id: runner.id, command: "sleep 300" });
    commandPid = (await wire.call("exec.list", { state: "running" })).streams[0]!.pid;
  });
  afterAll(async () => {
    wire[Symbol.dispose]();
    await daemon[Symbol.asyncDispose]();
  });

  const isTrl = `[ "$1" = --version ] && echo 'trl 9.9.9' && exit 0`;
  test.each([
    ["it exits", "echo no luck >&2; exit 1", "it ended with 1: no luck"],
    ["it crashes", "kill -SEGV $$", "it ended by SIGSEGV"],
    ["it is another program", "exit 0", "it does not say that it is trl"],
    ["it has no takeover", `${isTrl}; exit 0`, "it does not know how"],
    [
      "it refuses the state",
      `${isTrl}; echo 'schema version' >&2; exit 1`,
      "it ended with 1: schema version",
    ],
  ])("%s", async (name, lines, reason) => {
    const { code, message } = await wire.fail("system.upgrade", {
      executable: script(daemon.dir, name.replaceAll(" ", "-"), lines),
    });
    expect(code).toBe("UNSUPPORTED");
    expect(message).toContain(reason);
    // The same connection, the same state, the same process.
    expect(await session.out("echo $PWD $X")).toBe("/usr 41");
    expect(isAlive(commandPid)).toBe(true);
    expect(await wire.call("system.stats", {})).toMatchObject({ pid: daemon.pid, upgrades: 0 });
  });

  test("trl upgrade reports it by its exit code", () => {
    const trl = commandLine(daemon.socketPath);
    const { code, err } = trl("upgrade", "--executable", script(daemon.dir, "broken", "exit 1"));
    expect([code, err]).toEqual([69, expect.stringContaining("cannot take over this daemon")]);
    expect(trl("upgrade", "--executable", "/nonexistent").code).toBe(64);
  });

  test("an executable that fails during the takeover is rolled back", async () => {
    const descriptors = descriptorsOf(daemon.pid);
    const flagged = `case "$TRL_HANDOVER" in *trial*) exec ${shellBinary} "$@";; *) exec ${shellBinary} "$@" --nonsense;; esac`;
    const last = await upgrade(daemon, script(daemon.dir, "late", flagged));
    expect(last).toMatchObject({ ok: false, reason: expect.stringContaining("nonsense") });
    using after = await daemon.connect();
    const { stdout } = await after.call("exec.run", { session_id: session.id, command: "echo $PWD $X" });
    expect(stdout).toBe("/usr 41\n");
    const [running] = (await after.call("exec.list", { state: "running" })).streams;
    expect([running?.pid, isAlive(commandPid)]).toEqual([commandPid, true]);
    expect(await after.call("system.stats", {})).toMatchObject({ pid: daemon.pid, upgrades: 0 });
    expect(daemon.log()).toContain("the upgrade failed; the daemon continues unchanged");
    // A later upgrade succeeds.
    expect(await upgrade(daemon)).toMatchObject({ ok: true });
    await until("no descriptor is left over", () => descriptorsOf(daemon.pid) <= descriptors);
  });
});

test("the upgrade waits for a terminal of bun-pty, and never kills it", async () => {
  await using daemon = await startHere();
  using wire = await daemon.connect();
  const terminal = await newTerminal(wire, { driver: "bun-pty", command: "cat" });
  const begun = await wire.call("system.upgrade", { executable: binary, drain_timeout_s: 0.2 });
  expect(begun.waits_for).toEqual([expect.stringContaining(`the terminal ${terminal.id} is bun-pty's`)]);
  expect(await wire.fail("pty.create", {})).toMatchObject({ code: "RUNTIME_UNAVAILABLE" });
  const gaveUp = await untilUpgraded(daemon, undefined);
  expect(gaveUp).toMatchObject({ ok: false, reason: expect.stringContaining("after 0.2 s the terminal") });
  await terminal.type("still here\n");
  await terminal.waitFor("still here\nstill here");
  await wire.call("system.upgrade", { executable: binary, drain_timeout_s: 20 });
  await wire.call("pty.close", { session_id: terminal.id });
  expect(await untilUpgraded(daemon, gaveUp.at)).toMatchObject({ ok: true });
});

test("on SIGHUP the executable that is now at its path takes over; if that is its own, it stops", async () => {
  using dir = tempDir();
  const [own, next] = ["trl", "next"].map((name) => join(dir.path, name)) as [string, string];
  copyFileSync(binary, own);
  await using daemon = await startHere({ program: [own] });
  using wire = await daemon.connect();
  const { id } = await newSession(wire, { name: "kept" });
  copyFileSync(binary, next);
  renameSync(next, own);
  daemon.kill("SIGHUP");
  expect(await untilUpgraded(daemon, undefined)).toMatchObject({ ok: true });
  using after = await daemon.connect();
  expect((await after.call("session.info", { session_id: id })).name).toBe("kept");
  daemon.kill("SIGHUP");
  expect(await daemon.exited).toBe(0);
});

test("an upgraded daemon that is killed leaves nothing behind, and its journal is recovered", async () => {
  const [past, running] = ["x-00000000000000aa", "x-00000000000000bb"] as const;
  await using daemon = await startHere();
  using wire = await daemon.connect();
  const { id, run } = await newSession(wire);
  await run("exit 7", { command_id: past });
  await wire.call("exec.stream", { session_id: id, command: "sleep 300", command_id: running });
  const { pid } = (await wire.call("exec.list", { state: "running" })).streams[0]!;
  expect(await upgrade(daemon)).toMatchObject({ ok: true });
  expect(isAlive(pid)).toBe(true);
  const journal = daemon.socketPath.replace(".sock", ".journal");
  const isNoted = (command: string) => readFileSync(journal, "utf8").includes(command);
  await until("the journal", () => isNoted(past) && isNoted(running));
  daemon.kill("SIGKILL");
  await daemon.exited;
  await using next = await startOn(daemon.socketPath);
  await until("the end of what was left", () => !isAlive(pid));
  using after = await next.connect();
  const { streams } = await after.call("exec.list", {});
  const known = streams.map(({ stream_id, exit_code, reason }) => [stream_id, exit_code, reason]).sort();
  expect(known).toEqual([
    [past, 7, "exit"],
    [running, expect.anything(), "lost"],
  ]);
});
