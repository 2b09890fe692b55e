// What one client keeps, prints or sends does not cost the others what is theirs.
import { describe, expect, test } from "bun:test";
import { startDaemon } from "../../support/daemon.ts";
import { newSession } from "../../support/session.ts";
import { until } from "../../support/wait.ts";

const mib = 1024 * 1024;
const untilPrinted = (
  wire: Awaited<ReturnType<Awaited<ReturnType<typeof startDaemon>>["connect"]>>,
  bytes: number,
  ids: string[],
) =>
  until(
    "all that is printed",
    async () => {
      const { streams } = await wire.call("exec.list", { state: "running" });
      return ids.every((id) => streams.find((it) => it.stream_id === id)?.stdout_bytes === bytes);
    },
    60_000,
  );

describe("results that are kept", () => {
  test("of one client stay, however many commands and sessions another has", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    using other = await daemon.connect();
    const own = await newSession(wire);
    const [first, second] = ["x-00000000000000aa", "x-00000000000000bb"];
    await own.run("echo first", { command_id: first });
    const busy = await newSession(other);
    const ran: string[] = [];
    for (let i = 0; i < 220; i++) ran.push((await busy.run(":")).command_id);
    await own.run("echo second", { command_id: second });
    for (let i = 0; i < 60; i++) {
      const session = await newSession(other);
      ran.push((await session.run(":")).command_id);
      await other.call("session.destroy", { session_id: session.id });
    }
    expect((await wire.call("exec.wait", { stream_id: first })).stdout).toBe("first\n");
    expect((await wire.call("exec.wait", { stream_id: second })).stdout).toBe("second\n");
    // The other's oldest have made room, and its last are there.
    expect((await other.fail("exec.wait", { stream_id: ran[0]! })).code).toBe("STREAM_NOT_FOUND");
    expect(await other.call("exec.wait", { stream_id: ran.at(-1)! })).toMatchObject({ exit_code: 0 });
  }, 60_000);
});

describe("output of all commands together", () => {
  test("is bounded: the largest keep less, the small all, and each says so", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const start = async (bytes: number, command_id: string) => {
      const { id } = await newSession(wire);
      const command = `yes 1234567 | head -c ${bytes}; sleep 1000`;
      const params = { session_id: id, command, command_id, max_output_bytes: 64 * mib, timeout_s: 0 };
      await wire.call("exec.stream", params);
      await wire.call("exec.detach", { stream_id: command_id });
      return id;
    };
    wire.keepsFrames = false;
    wire.onFrame = () => {};
    const small = "x-0000000000000000";
    await start(mib / 4, small);
    await untilPrinted(wire, mib / 4, [small]);
    const large = Array.from({ length: 6 }, (_, i) => `x-000000000000000${i + 1}`);
    const sessions = [];
    for (const id of large) sessions.push(await start(40 * mib, id));
    await untilPrinted(wire, 40 * mib, large);
    const waits = large.map((stream_id) => wire.call("exec.wait", { stream_id }));
    for (const session_id of sessions) await wire.call("session.destroy", { session_id, force: true });
    const results = await Promise.all(waits);
    for (const result of results) {
      expect(result).toMatchObject({ truncated: true, stdout_bytes: 40 * mib });
      expect(result.stdout).toStartWith("1234567\n1234567\n");
      expect(result.stdout).toEndWith("1234567\n");
      expect(result.stdout).toContain("bytes");
    }
    expect(results.reduce((sum, { stdout }) => sum + stdout.length, 0)).toBeLessThan(140 * mib);
    expect(await wire.call("exec.attach", { stream_id: small })).toMatchObject({ truncated: false });
  }, 120_000);
});

describe("what is said of a session in every list", () => {
  test("has a bound, and the error names it", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const name = "n".repeat(256);
    expect((await wire.call("session.create", { name })).name).toBe(name);
    for (const method of ["session.create", "pty.create"]) {
      const error = await wire.fail(method, { name: "n".repeat(15 * mib) });
      expect(error).toEqual({ code: "INVALID_PARAMS", message: "name: expected at most 256 characters" });
    }
    const env = { A: "x".repeat(7 * mib) };
    const error = await wire.fail("session.create", { env, stateful: false });
    expect(error.message).toBe("env: expected at most 6291456 characters in all");
    const { command } = await wire.call("pty.create", { command: `: ${"x".repeat(100_000)}` });
    expect(command).toHaveLength(500);
  });
});

describe("a line that would take the daemon seconds", () => {
  test("is refused for what it is made of, and long ones of data are taken", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const { id } = await newSession(wire);
    const bytes = 15 * mib;
    for (const [name, line] of [
      ["unknown", "[".repeat(bytes)],
      ["many", `{"id":"many","method":"system.ping","params":[${"1,".repeat(bytes / 2)}1]}`],
    ]) {
      const before = wire.frames.length;
      wire.send(`${line}\n`);
      const reply = await wire.frame((frame) => wire.frames.indexOf(frame) >= before);
      expect(reply["id"]).toBe(name);
      expect(reply["error"]).toMatchObject({
        code: "REQUEST_TOO_LARGE",
        message: "the line has more than 50000 fields and list entries; make several requests of it",
      });
    }
    for (const stdin of ["x".repeat(10 * mib), `${'word "quoted" '.repeat(8)}\n`.repeat(60_000)]) {
      const result = await wire.call("exec.run", { session_id: id, command: "wc -c", stdin });
      expect(Number(result.stdout)).toBe(stdin.length);
    }
  }, 60_000);
});
