// Windows: how much may be under way to a client that says how much it has taken; and commands by an id of one's own.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { newSession } from "../../support/session.ts";
import { newTerminal } from "../../support/terminal.ts";
import { until } from "../../support/wait.ts";
import type { Frame, Wire } from "../../support/wire.ts";

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => daemon[Symbol.asyncDispose]());

const windowBytes = 8192;
const bytesOf = (frames: Frame[], type: string) =>
  frames
    .filter((it) => it["type"] === type)
    .reduce((sum, it) => sum + Buffer.from(it["data"], "base64").length, 0);

async function flood(wire: Wire, bytes: number, more: object = {}) {
  const session = await newSession(wire);
  const { stream_id } = await wire.call("exec.stream", {
    session_id: session.id,
    command: `head -c ${bytes} /dev/zero`,
    encoding: "base64",
    window_bytes: windowBytes,
    ...more,
  });
  return stream_id;
}

describe("a stream with a window", () => {
  test("sends no more than the window, and goes on as it is acknowledged", async () => {
    using wire = await daemon.connect();
    const stream_id = await flood(wire, 100_000);
    await until("the window to be full", () => bytesOf(wire.frames, "stdout") === windowBytes);
    await wire.call("system.ping", {}); // other traffic goes on, and nothing more has come with it
    expect(bytesOf(wire.frames, "stdout")).toBe(windowBytes);
    expect(await wire.call("exec.ack", { stream_id, stdout_offset: 5000 })).toEqual({ stream_id });
    await until("the rest of the window", () => bytesOf(wire.frames, "stdout") === windowBytes + 5000);
    for (let taken = 5000; taken < 100_000; ) {
      taken = bytesOf(wire.frames, "stdout");
      await wire.call("exec.ack", { stream_id, stdout_offset: taken });
    }
    const exit = await wire.frame((frame) => frame["type"] === "exit");
    expect(exit["stdout_bytes"]).toBe(100_000);
    expect(bytesOf(wire.frames, "stdout")).toBe(100_000);
  });

  test("takes an acknowledgement neither back nor beyond what was sent", async () => {
    using wire = await daemon.connect();
    const stream_id = await flood(wire, 100_000);
    await until("the window to be full", () => bytesOf(wire.frames, "stdout") === windowBytes);
    await wire.call("exec.ack", { stream_id, stdout_offset: 2 ** 40, stderr_offset: 2 ** 40 });
    await until("one more window", () => bytesOf(wire.frames, "stdout") === 2 * windowBytes);
    await wire.call("exec.ack", { stream_id, stdout_offset: 10 });
    await wire.call("system.ping", {});
    expect(bytesOf(wire.frames, "stdout")).toBe(2 * windowBytes);
    await wire.call("exec.cancel", { stream_id });
  });

  test("whose client takes nothing is let go after the stall timeout", async () => {
    using wire = await daemon.connect();
    const stream_id = await flood(wire, 100_000, { stall_timeout_s: 0.3 });
    const lagged = await wire.frame((frame) => frame["type"] === "lagged");
    expect(lagged).toMatchObject({ stream_id, stdout_offset: windowBytes });
    await wire.call("exec.attach", { stream_id, stdout_offset: windowBytes, encoding: "base64" });
    await wire.frame((frame) => frame["type"] === "exit");
    expect(bytesOf(wire.frames, "stdout")).toBe(100_000);
  });

  test("is delivered whole to a client that cannot say anything any more", async () => {
    using wire = await daemon.connect();
    await flood(wire, 100_000);
    wire.endInput();
    await wire.frame((frame) => frame["type"] === "exit");
    expect(bytesOf(wire.frames, "stdout")).toBe(100_000);
    await wire.untilClosed();
  });

  test("splits no character, however small the window that is left", async () => {
    using wire = await daemon.connect();
    const session = await newSession(wire);
    const text = "é€😀".repeat(3000);
    const { stream_id } = await wire.call("exec.stream", {
      session_id: session.id,
      command: `printf '%s' '${text}'`,
      window_bytes: 4096,
    });
    const seen = () =>
      wire.frames
        .filter((it) => it["type"] === "stdout")
        .map((it) => it["data"])
        .join("");
    while (!wire.frames.some((it) => it["type"] === "exit"))
      await wire.call("exec.ack", { stream_id, stdout_offset: Math.max(0, Buffer.byteLength(seen()) - 1) });
    expect(seen()).toBe(text);
  });

  test("needs a window that is worth it", async () => {
    using wire = await daemon.connect();
    const session = await newSession(wire);
    const error = await wire.fail("exec.stream", { session_id: session.id, command: ":", window_bytes: 10 });
    expect(error).toMatchObject({
      code: "INVALID_PARAMS",
      message: "window_bytes: expected at least 4096 bytes",
    });
  });
});

// As over a network that is gone: nobody has closed it, and nobody answers; and as where a connection breaks, of which
// one half is closed before the other.
test.each(["that it has given up", "that is half closed"])(
  "who comes back with its key does not wait for the connection %s",
  async (how) => {
    using silent = await daemon.connect();
    const bytes = 20_000_000; // more than is kept, so that the command waits for who does not take it
    const key = { resume_key: "mine-alone", encoding: "base64", stall_timeout_s: 0 } as const;
    const stream_id = await flood(silent, bytes, key);
    await until("the window to be full", () => bytesOf(silent.frames, "stdout") === windowBytes);
    if (how.includes("half")) silent.endInput();
    const back = await daemon.connect();
    let taken = 0;
    back.onFrame = (frame) => {
      if (frame["type"] !== "stdout") return;
      expect(frame["offset"]).toBe(taken);
      taken += Buffer.from(frame["data"], "base64").length;
      back.call("exec.ack", { stream_id, stdout_offset: taken }).catch(() => {}); // the last ones are for nobody
    };
    back.keepsFrames = false;
    await back.call("exec.attach", { ...key, stream_id, stdout_offset: 0, window_bytes: 1_000_000 });
    await until("all of it", () => taken === bytes);
    expect(bytesOf(silent.frames, "stdout")).toBe(windowBytes);
    // Nor does what is told too late bring back what is over.
    silent[Symbol.dispose]();
    back[Symbol.dispose]();
  },
);

describe("exec.detach", () => {
  test("ends the frames of a command on this connection, and not the command", async () => {
    using wire = await daemon.connect();
    const session = await newSession(wire);
    const { stream_id } = await wire.call("exec.stream", {
      session_id: session.id,
      command: "echo one; read x; echo two",
      open_stdin: true,
    });
    await wire.frame((frame) => frame["data"] === "one\n");
    expect(await wire.call("exec.detach", { stream_id })).toEqual({ stream_id, detached: true });
    expect(await wire.call("exec.detach", { stream_id })).toEqual({ stream_id, detached: false });
    await wire.call("exec.write", { stream_id, data: "\n" });
    using other = await daemon.connect();
    await other.call("exec.attach", { stream_id, stdout_offset: 4 });
    await other.frame((frame) => frame["type"] === "exit");
    expect(other.frames.some((frame) => frame["data"] === "two\n")).toBe(true);
    await wire.call("system.ping", {});
    expect(wire.frames.some((frame) => frame["type"] === "exit")).toBe(false);
    expect((await wire.fail("exec.detach", { stream_id: "x-00000000" })).code).toBe("STREAM_NOT_FOUND");
  });
});

describe("command_id", () => {
  test("names a run, so that it can be cancelled and its output had again", async () => {
    using wire = await daemon.connect();
    const session = await newSession(wire);
    const command_id = "x-00112233445566778899aabbccddeeff";
    const run = wire.call("exec.run", {
      session_id: session.id,
      command: "echo begun; sleep 60",
      command_id,
    });
    using other = await daemon.connect();
    await until("it to run", async () =>
      (await other.call("exec.list", {})).streams.some(
        (it) => it.stream_id === command_id && it.stdout_bytes > 0,
      ),
    );
    expect(await other.call("exec.cancel", { stream_id: command_id })).toMatchObject({ cancelled: true });
    expect(await run).toMatchObject({ command_id, reason: "cancelled", stdout: "begun\n" });
    await other.call("exec.attach", { stream_id: command_id });
    expect((await other.frame((frame) => frame["type"] === "stdout"))["data"]).toBe("begun\n");
  });

  test("is taken once: who sends a request twice does not run it twice", async () => {
    using wire = await daemon.connect();
    const session = await newSession(wire);
    const params = { session_id: session.id, command: "echo ran", command_id: "x-cafe0001" };
    expect((await wire.call("exec.run", params)).stdout).toBe("ran\n");
    for (const method of ["exec.run", "exec.stream"]) {
      expect(await wire.fail(method, params)).toMatchObject({
        code: "INVALID_PARAMS",
        message: "command_id: there is a command x-cafe0001 already",
      });
    }
    const odd = { ...params, command_id: "../x" };
    expect((await wire.fail("exec.run", odd)).message).toContain("command_id: expected `x-` and 8 to 32");
  });
});

describe("a terminal with a window", () => {
  test("sends no more than is acknowledged, and nobody waits for it", async () => {
    using wire = await daemon.connect();
    const command =
      "stty -opost; printf ready; read x; head -c 300000 /dev/zero | tr '\\0' a; printf END; read x";
    const terminal = await newTerminal(wire, { command });
    const session_id = terminal.id;
    await terminal.waitFor("ready");
    const { offset } = await wire.call("pty.subscribe", { session_id, replay: "none", window_bytes: 4096 });
    await terminal.type("\n");
    await terminal.waitFor("END"); // the program has printed it all
    const output = () =>
      wire.frames.filter((it) => it["type"] === "output" && it["session_id"] === session_id);
    const bytes = () => bytesOf(output(), "output");
    expect(bytes()).toBe(4096);
    const { offset: total } = await terminal.snapshot();
    while (bytes() < total - offset) await wire.call("pty.ack", { session_id, offset: offset + bytes() });
    expect(bytes()).toBe(total - offset);
    await wire.call("pty.close", { session_id });
  });
});
