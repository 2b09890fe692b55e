// When sessions are cleaned up, what one connection may have, and what a session may leave running.
import * as bun from "bun:test";
import { describe, expect } from "bun:test";
import { startDaemon } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { newSession } from "../../support/session.ts";
import { newTerminal, Watcher } from "../../support/terminal.ts";
import { until } from "../../support/wait.ts";
import type { Wire } from "../../support/wire.ts";

/** Each has a daemon of its own, and mostly waits. */
const test = bun.test.concurrent;

const infoOf = (wire: Wire, session_id: string) => wire.call("session.info", { session_id });
const listed = async (wire: Wire, id: string) =>
  (await wire.call("session.list", {})).sessions.find((session) => session.session_id === id);
const untilGone = (wire: Wire, id: string) =>
  until(`the end of ${id}`, async () => (await listed(wire, id)) === undefined);
const secondsUntil = (time: string | null) => (Date.parse(time!) - Date.now()) / 1000;

describe("a session says when it will be cleaned up", () => {
  test("by idleness, which a call puts off", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const { id, run } = await newSession(wire, { idle_timeout_s: 100 });
    const before = (await listed(wire, id))!;
    expect(before.expires_by).toBe("idle");
    expect(secondsUntil(before.expires_at)).toBeWithin(50, 101);
    await Bun.sleep(20);
    await run("true");
    expect(Date.parse((await listed(wire, id))!.expires_at!)).toBeGreaterThan(Date.parse(before.expires_at!));
    const looked = (await infoOf(wire, id)).expires_at;
    expect((await infoOf(wire, id)).expires_at).toBe(looked); // to look is not to use
  });

  test("by age, which nothing puts off", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const { id } = await newSession(wire, { idle_timeout_s: 0, max_age_s: 2 });
    expect(await listed(wire, id)).toMatchObject({ expires_by: "age", max_age_s: 2 });
    const { stream_id } = await wire.call("exec.stream", { session_id: id, command: "sleep 100" });
    await untilGone(wire, id);
    const exit = await wire.frame((frame) => frame["stream_id"] === stream_id && frame["type"] === "exit");
    expect(exit["reason"]).toBe("cancelled");
    await until("the log's word", () => daemon.log().includes("why=age"));
  });

  test("or that it will not be", async () => {
    await using daemon = await startDaemon({ flags: ["--max-idle-sec", "0", "--session-ttl-sec", "0"] });
    using wire = await daemon.connect();
    const { id } = await newSession(wire);
    expect(await listed(wire, id)).toMatchObject({ expires_at: null, expires_by: null });
  });
});

describe("a session is not idle", () => {
  test("while a command runs, and is afterwards", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const { id, run } = await newSession(wire, { idle_timeout_s: 1 });
    const running = run("sleep 3; echo whole");
    expect((await listed(wire, id))!.expires_by).toBe("age");
    expect((await running).stdout).toBe("whole\n");
    await untilGone(wire, id);
    await until("the log's word", () => daemon.log().includes("why=idle"));
  });

  test("while somebody still reads what a command has printed", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const { id } = await newSession(wire, { idle_timeout_s: 1 });
    // Who does not read keeps its attachment: 4 MiB are more than a socket holds.
    using slow = await daemon.connect();
    slow.pause();
    slow.sendFrame({
      id: 1,
      method: "exec.stream",
      params: { session_id: id, command: "head -c 4000000 /dev/zero | tr '\\0' x", stall_timeout_s: 0 },
    });
    await until("the end of the command", async () =>
      (await wire.call("exec.list", {})).streams.some(({ state }) => state === "ended"),
    );
    await Bun.sleep(2500);
    expect(await listed(wire, id)).toMatchObject({ state: "idle", expires_by: "age" });
    slow[Symbol.dispose]();
    await untilGone(wire, id);
  });
});

describe("a terminal", () => {
  test("is idle only where that was asked for, nobody watches and nothing happens", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const patient = await newTerminal(wire, { command: "sleep 100" });
    // Long enough for the watcher to be there on a busy machine.
    const watched = await newTerminal(wire, { command: "sleep 100", idle_timeout_s: 3 });
    using client = await daemon.connect();
    await Watcher.subscribe(client, { session_id: watched.id });
    const busy = await newTerminal(wire, {
      command: "while :; do echo on; sleep 0.2; done",
      idle_timeout_s: 3,
    });
    const quiet = await newTerminal(wire, { command: "sleep 100", idle_timeout_s: 3 });
    await untilGone(wire, quiet.id);
    for (const { id } of [patient, watched, busy]) expect(await listed(wire, id)).toBeDefined();
    expect(await listed(wire, watched.id)).toMatchObject({ expires_at: null, idle_timeout_s: 3 });
    await client.call("pty.unsubscribe", { session_id: watched.id });
    await untilGone(wire, watched.id);
  });

  test("ends by its own age, where nobody watches", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const { id } = await newTerminal(wire, { command: "sleep 100", max_age_s: 1 });
    await untilGone(wire, id);
  });
});

describe("one connection", () => {
  test("makes so many sessions and terminals, and another one makes its own", async () => {
    await using daemon = await startDaemon({ flags: ["--connection-max-sessions", "2"] });
    using wire = await daemon.connect();
    using other = await daemon.connect();
    const { id } = await newSession(wire);
    await newTerminal(wire, { command: "sleep 100" });
    for (const method of ["session.create", "pty.create"])
      expect((await wire.fail(method, {})).code).toBe("MAX_SESSIONS_REACHED");
    await newSession(other);
    await wire.call("session.destroy", { session_id: id });
    await newSession(wire);
  });

  test("runs so many commands at a time", async () => {
    await using daemon = await startDaemon({ flags: ["--connection-max-commands", "1"] });
    using wire = await daemon.connect();
    const [one, two] = [await newSession(wire), await newSession(wire)];
    const { stream_id } = await wire.call("exec.stream", { session_id: one.id, command: "sleep 100" });
    const refused = await wire.fail("exec.run", { session_id: two.id, command: "true" });
    expect(refused).toMatchObject({ code: "RESOURCE_PRESSURE" });
    await wire.call("exec.cancel", { stream_id });
    await wire.frame((frame) => frame["stream_id"] === stream_id && frame["type"] === "exit");
    expect((await two.run("echo ok")).stdout).toBe("ok\n");
  });

  test("has so many requests answered at a time, and the others in their turn", async () => {
    await using daemon = await startDaemon({ flags: ["--connection-max-requests", "2"] });
    using wire = await daemon.connect();
    const sessions = await Promise.all([1, 2, 3].map(() => newSession(wire)));
    const results = await Promise.all(sessions.map(({ run }) => run("sleep 0.2; echo done")));
    expect(results.map(({ stdout }) => stdout)).toEqual(["done\n", "done\n", "done\n"]);
  });
});

describe("processes of a session", () => {
  needs("limits").test.concurrent("are limited by the kernel", async () => {
    await using daemon = await startDaemon({ flags: ["--session-max-processes", "5"] });
    using wire = await daemon.connect();
    const { id, run } = await newSession(wire);
    expect((await infoOf(wire, id)).isolation?.limits["pids"]?.value).toBe(5);
    const result = await run("for i in 1 2 3 4 5 6 7; do sleep 100 & done", { timeout_s: 2 }).catch(
      () => undefined,
    );
    expect(result).toBeUndefined(); // bash tries again and again, until it is stopped
    expect((await infoOf(wire, id)).receipt.limits_hit).toEqual(["pids"]);
  });

  needs("python3").test.concurrent("and bytes are in the receipts", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const { id, run } = await newSession(wire);
    const first = await run("printf 12345; printf 123 >&2; sleep 100 & sleep 101 & :");
    expect(first.receipt).toMatchObject({
      bytes_out: 8,
      leftovers: 2,
      measured_by: "process",
      limits_hit: [],
    });
    expect(first.receipt.cpu_ms).toBeGreaterThan(0);
    expect(first.receipt.peak_memory_bytes).toBeNull(); // the daemon is larger, and the kernel counts the moment before
    const second = await run("python3 -c 'x = bytearray(180 << 20)'");
    expect(second.receipt.peak_memory_bytes).toBeWithin(180 << 20, 250 << 20);
    const { receipt } = await infoOf(wire, id);
    expect(receipt).toMatchObject({ bytes_out: 8, leftovers: 2 });
    expect(receipt.peak_memory_bytes).toBe(second.receipt.peak_memory_bytes);
    expect(receipt.cpu_ms).toBeCloseTo(first.receipt.cpu_ms! + second.receipt.cpu_ms!, 0);
  });
});
