// What a daemon does before it is asked: nothing of it is to be seen, and whoever asks for something comes first.
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, readlinkSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startHere, type TestDaemon } from "../support/daemon.ts";
import { needs } from "../support/needs.ts";
import { leavingsOf } from "../support/processes.ts";
import { binary } from "../support/program.ts";
import { isRoot } from "../support/requirements.ts";
import { newSession } from "../support/session.ts";
import { tempDir } from "../support/temp-dir.ts";
import { newTerminal, Watcher } from "../support/terminal.ts";
import { upgrade } from "../support/upgrade.ts";
import { until } from "../support/wait.ts";

/** On a busy machine a rehearsal gives up; where root may, it gives the daemon the processor before everything else. */
const realTime = [Bun.which("chrt") ?? "false", "--rr", "1"];
const first = isRoot && Bun.spawnSync([...realTime, "true"]).success ? realTime : [];

/** Where its private directory is can be told, so that the test sees what is in it. */
async function startRehearsing(flags: string[] = [], env: Record<string, string> = {}) {
  const place = tempDir();
  const daemon = await startHere({
    env,
    program: [...first, binary],
    flags: ["--rehearsal", "on", "--verbose", "--log-format", "json", "--run-dir", place.path, ...flags],
  });
  const runDir = () => join(place.path, readdirSync(place.path)[0]!);
  return {
    ...daemon,
    stages: () => readdirSync(runDir()).filter((name) => name.startsWith("rehearsal")),
    place: place.path,
    runDir,
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]();
      place[Symbol.dispose]();
    },
  };
}

/** Also where it was given up: on a machine that is busy with other tests, others come first. */
const isOver = (daemon: Pick<TestDaemon, "log">) => /"(?:not )?rehearsed"/.test(daemon.log());

const childrenOf = (pid: number) => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();

const openFiles = (pid: number) =>
  readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return []; // just closed
    }
  });

needs("linux").describe("a rehearsal", () => {
  test("starts no process, is nobody's session, and leaves nothing behind", async () => {
    await using daemon = await startRehearsing();
    const children = new Set<string>();
    let mostStages = 0;
    await until("it to be over", () => {
      children.add(childrenOf(daemon.pid));
      mostStages = Math.max(mostStages, daemon.stages().length);
      return isOver(daemon);
    });
    expect([...children]).toEqual([""]);
    expect(mostStages).toBe(2);
    await until("its directories to be gone", () => daemon.stages().length === 0);
    await using unrehearsed = await startRehearsing(["--rehearsal", "off"]);
    // But for the list of its children, which stays open once it was looked at.
    const lasting = (pid: number) => openFiles(pid).filter((path) => !path.endsWith("/children")).length;
    await until("its descriptors to be closed", () => lasting(daemon.pid) === lasting(unrehearsed.pid));
    expect(openFiles(daemon.pid).filter((path) => /rehearsal|ptmx|pts/.test(path))).toEqual([]);
    using wire = await daemon.connect();
    expect((await wire.call("session.list", {})).sessions).toEqual([]);
    expect((await wire.call("pty.list", {})).sessions).toEqual([]);
    expect((await wire.call("exec.list", {})).streams).toEqual([]);
    const { connections_total, bytes_in, total_commands_run } = await wire.call("system.stats", {});
    expect({ connections_total, total_commands_run }).toEqual({
      connections_total: 1,
      total_commands_run: 0,
    });
    expect(bytes_in).toBeLessThan(1000);
    expect(daemon.log()).not.toContain("session created");
  });

  // Whatever else this machine does: only root can give the daemon the processor first.
  needs("root").test("is played to its end where nobody is in its way", async () => {
    for (const end = performance.now() + 25_000; ; ) {
      await using daemon = await startRehearsing();
      await until("it to be over", () => isOver(daemon));
      if (daemon.log().includes('"rehearsed"')) break;
      expect(daemon.log()).toContain("the machine is busy");
      expect(performance.now()).toBeLessThan(end);
    }
  });

  test("is not gone on with while a command runs, and afterwards is", async () => {
    for (const end = performance.now() + 25_000; ; ) {
      await using daemon = await startRehearsing();
      using wire = await daemon.connect();
      const { id } = await newSession(wire);
      await wire.call("exec.stream", { session_id: id, command: "sleep 1000" });
      // All that was logged before the command ran has been read by then.
      const { id: mark } = await newSession(wire);
      await until("the log", () => daemon.log().includes(mark));
      if (isOver(daemon)) {
        expect(performance.now()).toBeLessThan(end); // over before this machine got here
        continue;
      }
      await Bun.sleep(1000); // it would take a third of that on a machine with nothing else to do
      expect(isOver(daemon)).toBe(false);
      await wire.call("exec.cancel", { session_id: id });
      await until("it to be over", () => isOver(daemon));
      break;
    }
  });

  test("beside sessions and terminals that are used meanwhile changes nothing for them", async () => {
    await using daemon = await startRehearsing();
    using wire = await daemon.connect();
    const session = await newSession(wire);
    const terminal = await newTerminal(wire, { command: "cat", args: [] });
    const watcher = await Watcher.subscribe(wire, { session_id: terminal.id, replay: "none" });
    let typed = "";
    for (let round = 0; !isOver(daemon) || round < 20; round++) {
      expect(await session.out(`x=$((x + 1)); echo "$x"`)).toBe(String(round + 1));
      expect(await session.out("sh -c 'echo outside'")).toBe("outside");
      await terminal.type("k");
      typed += "k";
      await until("the echo", () => watcher.all.toString() === typed);
      await Bun.sleep(20); // in which it goes on
    }
    const left = (await session.run("sleep 100 & echo $!")).leftovers;
    expect(left.map(({ command }) => command)).toEqual(["sleep 100"]);
  });

  test("never touches a terminal of anybody's, whatever descriptors are free", async () => {
    await using daemon = await startRehearsing();
    using wire = await daemon.connect();
    const create = () => newTerminal(wire, { command: "cat", args: [] });
    const close = async (count: number) => {
      for (const { id } of terminals.splice(0, count)) await wire.call("pty.close", { session_id: id });
    };
    // Holes in the table of descriptors: what is opened next has lower numbers than what is there.
    const terminals = await Promise.all(Array.from({ length: 8 }, create));
    await close(4);
    await until("the first to be over", () => isOver(daemon));
    for (let count = 0; count < 6; count++) terminals.push(await create());
    await close(3);
    expect(await upgrade(daemon)).toMatchObject({ ok: true });
    await until("the second to be over", () => daemon.log().split('rehearsed"').length > 2);
    using again = await daemon.connect();
    for (const { id } of terminals) {
      const { lines } = await again.call("pty.snapshot", { session_id: id });
      expect(lines!.join("").trim()).toBe("");
      await again.call("pty.write", { session_id: id, data: "own\n" });
      expect(
        await again.call("pty.wait", { session_id: id, until: { text: "own" }, timeout_s: 10 }),
      ).toMatchObject({
        matched: "text",
      });
    }
  });

  test.each(["SIGTERM", "SIGKILL"] as const)("that %s ends in the middle leaves nothing", async (signal) => {
    await using daemon = await startRehearsing();
    await until("it to be under way", () => daemon.stages().length === 2);
    daemon.kill(signal);
    await daemon.exited;
    if (signal === "SIGTERM") {
      expect(await daemon.exited).toBe(0);
      expect(readdirSync(daemon.place)).toEqual([]);
    }
    expect(daemon.log()).not.toContain('"rehearsed"');
    expect(leavingsOf(daemon.pid)).toEqual([]);
  });

  test("whose stage cannot be cleared is no reason not to end, nor not to be upgraded", async () => {
    await using daemon = await startRehearsing();
    const [stage] = await until("it to be under way", () =>
      daemon.stages().length === 2 ? daemon.stages() : undefined,
    );
    // What is to be removed is something else now.
    const path = join(daemon.runDir(), stage!);
    renameSync(path, `${path}-away`);
    writeFileSync(path, "");
    await until("it to be over", () => isOver(daemon));
    expect(await upgrade(daemon)).toMatchObject({ ok: true });
    daemon.kill("SIGTERM");
    expect(await daemon.exited).toBe(0);
    expect(daemon.log()).not.toContain("internal error");
  });

  test("is broken off for an upgrade, and the program that comes has its own", async () => {
    await using daemon = await startRehearsing();
    await until("it to be under way", () => daemon.stages().length === 2);
    using wire = await daemon.connect();
    const session = await newSession(wire);
    await session.run("x=41");
    expect(await upgrade(daemon)).toMatchObject({ ok: true });
    await until("the second to be over", () => daemon.log().split('rehearsed"').length > 2);
    using again = await daemon.connect();
    const { stdout } = await again.call("exec.run", { session_id: session.id, command: "echo $((x + 1))" });
    expect(stdout).toBe("42\n");
    await until("its directories to be gone", () => daemon.stages().length === 0);
    expect(openFiles(daemon.pid).filter((path) => /rehearsal|ptmx|pts/.test(path))).toEqual([]);
  });

  test("is left out where it is not wanted, or where there is little room", async () => {
    for (const flags of [
      ["--rehearsal", "off"],
      ["--fd-warning-threshold", "100"],
      ["--memory-pressure-mb", "200"],
    ]) {
      await using daemon = await startRehearsing(flags);
      using wire = await daemon.connect();
      const session = await newSession(wire);
      // With pauses in which it would have begun.
      for (let i = 0; i < 30; i++) {
        expect(await session.out("echo here")).toBe("here");
        expect(daemon.stages()).toEqual([]);
        await Bun.sleep(10);
      }
    }
  });

  test("that cannot be had is no reason not to work", async () => {
    using place = tempDir(); // without a bash
    await using daemon = await startRehearsing([], { PATH: place.path });
    await until("word of it", () => daemon.log().includes('"not rehearsed","cause":"shell: no such program'));
    expect(existsSync(daemon.socketPath)).toBe(true);
    using wire = await daemon.connect();
    expect(await (await newSession(wire, { shell: "/bin/sh" })).out("echo here")).toBe("here");
    expect(daemon.stages()).toEqual([]);
  });
});
