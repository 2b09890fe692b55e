// Disturbances during an upgrade: signals, misbehaving executables, missing files. None of them blocks a later upgrade.
import { describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startHere } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { endAll, isAlive } from "../../support/processes.ts";
import { binary, shellBinary } from "../../support/program.ts";
import { newSession } from "../../support/session.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { newTerminal } from "../../support/terminal.ts";
import { script, untilUpgraded, upgrade } from "../../support/upgrade.ts";
import { until } from "../../support/wait.ts";

test.each([
  ["SIGTERM", 20],
  ["SIGHUP", 30],
] as const)("%s during an upgrade with much state is not lost", async (signal, afterMs) => {
  await using daemon = await startHere();
  using wire = await daemon.connect();
  const fill = async () => {
    const { run } = await newSession(wire);
    for (let done = 0; done < 3; done++) await run("printf %900000d 0");
  };
  await Promise.all(Array.from({ length: 10 }, fill));
  await wire.call("system.upgrade", { executable: binary, drain_timeout_s: 20 });
  await Bun.sleep(afterMs); // one of many possible moments
  daemon.kill(signal);
  expect(await daemon.exited).toBe(0);
});

test("the bootstrap environment is inherited by no process", async () => {
  await using daemon = await startHere();
  expect(await upgrade(daemon)).toMatchObject({ ok: true });
  using wire = await daemon.connect();
  for (const driver of ["bun-pty", "native"] as const) {
    // The program ends only after its output was seen: bun-pty may lose output that is printed right before the end.
    const command = 'echo "$(env | grep -c ^TRL_HANDOVER) variables"; read -r seen';
    const terminal = await newTerminal(wire, { driver, command });
    await terminal.waitFor("variables");
    expect((await terminal.snapshot()).lines?.[0]).toBe("0 variables");
    await wire.call("pty.close", { session_id: terminal.id });
  }
});

describe("the check of an executable ends", () => {
  needs("linux").test("whatever the program prints, and whatever process it leaves behind", async () => {
    await using daemon = await startHere();
    using wire = await daemon.connect();
    const left = join(daemon.dir, "left");
    const bad = {
      flood: ["while :; do echo trl 9.9.9; done", "it prints more than 64 KiB"],
      parent: [`sleep 300 & echo $! >${left}; echo other`, "it does not say that it is trl"],
      runaway: [`setsid sleep 300 & echo $! >${left}2; echo other`, "it does not say that it is trl"],
    };
    for (const [name, [lines, reason]] of Object.entries(bad)) {
      const failure = wire.fail("system.upgrade", { executable: script(daemon.dir, name, lines!) });
      expect((await failure).message).toContain(reason!);
    }
    const child = Number(readFileSync(left, "utf8"));
    await until("what it left is gone", () => !isAlive(child));
    await endAll([Number(readFileSync(`${left}2`, "utf8"))]); // it may have ended with the group
    expect(await upgrade(daemon)).toMatchObject({ ok: true });
  });
});

test("on SIGHUP with no executable at its path, or a broken one, the daemon continues and logs it", async () => {
  using dir = tempDir();
  const own = join(dir.path, "trl");
  copyFileSync(binary, own);
  await using daemon = await startHere({ program: [own] });
  renameSync(own, `${own}.old`);
  daemon.kill("SIGHUP");
  const first = await untilUpgraded(daemon, undefined);
  expect(first).toMatchObject({ ok: false, reason: expect.stringContaining("there was no program") });
  writeFileSync(own, "half of it");
  chmodSync(own, 0o644);
  daemon.kill("SIGHUP");
  const second = await untilUpgraded(daemon, first!.at);
  expect(second).toMatchObject({ ok: false, reason: expect.stringContaining("is no program") });
  expect(daemon.log()).toContain("is no program that can be started");
  renameSync(`${own}.old`, own);
  using wire = await daemon.connect();
  expect(await wire.call("system.stats", {})).toMatchObject({ pid: daemon.pid, upgrades: 0 });
});

test("a daemon in a deleted working directory is upgraded as any other", async () => {
  using dir = tempDir();
  const cwd = join(dir.path, "cwd");
  const program = ["sh", "-c", `mkdir ${cwd} && cd ${cwd} && exec ${shellBinary} "$@"`, "sh"];
  await using daemon = await startHere({ program });
  rmSync(cwd, { recursive: true });
  expect(await upgrade(daemon)).toMatchObject({ ok: true });
});
