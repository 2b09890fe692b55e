// Lines and replies on the real socket: limits, half-close, concurrency, slow readers, bad input.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { newSession } from "../../support/session.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { until } from "../../support/wait.ts";

let daemon: TestDaemon;
const maxLineBytes = 100_000;
beforeAll(async () => {
  daemon = await startDaemon({ flags: ["--max-line-bytes", String(maxLineBytes), "--max-sessions", "500"] });
});
afterAll(() => daemon[Symbol.asyncDispose]());

const ping = (id: string | number) => JSON.stringify({ id, method: "system.ping", params: {} });

describe("a line", () => {
  test("is answered compactly, with its id as it came and the keys in order", async () => {
    using wire = await daemon.connect();
    wire.send(`${ping("é-1")}\n${ping(7)}\r\n\n  \n{"id":12345678901234567890,"method":"system.ping"}\n`);
    await until("three replies", () => wire.rawLines.length === 3);
    const ids = ['"é-1"', "7", "12345678901234567890"];
    for (const id of ids) {
      const line = wire.rawLines.find((raw) => raw.startsWith(`{"id":${id},`));
      expect(line).toMatch(/^\{"id":[^,]+,"ok":true,"data":\{"uptime_s":\d+,"version":"[\d.]+"\}\}$/);
    }
  });

  test("may arrive in pieces, and its params may be missing or null", async () => {
    using wire = await daemon.connect();
    for (const byte of Buffer.from(`{"id":"a","method":"system.ping","params":null}\n`))
      wire.send(Uint8Array.of(byte));
    expect((await wire.frame((frame) => frame["id"] === "a"))["ok"]).toBe(true);
  });

  test("that is too long is refused, and the next one is heard", async () => {
    using wire = await daemon.connect();
    const exact = ping("exact").padEnd(maxLineBytes, " ");
    wire.send(`${exact}\n${exact} \n${"x".repeat(3_000_000)}\n${ping("after")}\n`);
    await wire.frame((frame) => frame["id"] === "after");
    const answers = wire.frames.map((frame) => frame["error"]?.code ?? frame["id"]).sort();
    expect(answers).toEqual(["REQUEST_TOO_LARGE", "REQUEST_TOO_LARGE", "after", "exact"]);
  });

  test("that is no request is answered as unknown, and the connection lives on", async () => {
    using wire = await daemon.connect();
    const bad = [
      "nonsense",
      "[1]",
      "null",
      '"x"',
      "{}",
      '{"id":{},"method":"system.ping"}',
      '{"id":"1"}',
      '{"id":"1","method":5}',
    ];
    wire.send(`${bad.join("\n")}\n`);
    wire.send(Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d, 0x0a));
    wire.send(`${ping("after")}\n`);
    await wire.frame((frame) => frame["id"] === "after");
    const refusals = wire.frames.filter((frame) => frame["id"] === "unknown");
    expect(refusals.length).toBe(bad.length + 1);
    for (const { error } of refusals) expect(error.code).toBe("INVALID_PARAMS");
  });

  test("with an unknown method is told so under its own id", async () => {
    using wire = await daemon.connect();
    const error = await wire.fail("sesion.create", {});
    expect(error.code).toBe("INVALID_PARAMS");
    expect(error.message).toContain("unsupported method");
    expect(error.message).toContain("session.create");
    for (const method of ["constructor", "__proto__", "toString"]) {
      expect((await wire.fail(method)).message).toContain("unsupported method");
    }
  });

  test("with a wrong field is told which, and a misspelt one what was meant", async () => {
    using wire = await daemon.connect();
    const wrong = await wire.fail("exec.run", { session_id: "s-1", command: 5 });
    expect(wrong.message).toStartWith("command: expected string");
    const misspelt = await wire.fail("exec.run", { sessionid: "s-1", command: "x" });
    expect(misspelt.message).toContain('"session_id"');
    const secret = await wire.fail("session.create", { env: { KEY: ["hunter2"] } });
    expect(JSON.stringify(secret)).not.toContain("hunter2");
  });
});

describe("the end of input", () => {
  test("leaves every pending request its answer", async () => {
    using wire = await daemon.connect();
    const session = await newSession(wire);
    wire.sendFrame({
      id: "slow",
      method: "exec.run",
      params: { session_id: session.id, command: "sleep 0.3; echo x" },
    });
    wire.send(ping("last")); // no newline
    wire.endInput();
    await wire.untilClosed();
    const answered = wire.frames.map((frame) => frame["id"]);
    expect(answered).toContain("slow");
    expect(answered).toContain("last");
  });

  const clients = { socat: "socat -t 5 - UNIX-CONNECT:$S", nc: "nc -N -U $S" } as const;
  for (const name of ["socat", "nc"] as const)
    needs(name).test(`works with ${name}`, () => {
      const line = '{"id":"1","method":"system.ping","params":{}}';
      const result = Bun.spawnSync(["sh", "-c", `echo '${line}' | ${clients[name]}`], {
        env: { ...process.env, S: daemon.socketPath },
      });
      expect(result.stdout.toString()).toMatch(/^\{"id":"1","ok":true,.*\}\n$/);
    });
});

describe("many at once", () => {
  test("requests on one connection do not wait for each other", async () => {
    using wire = await daemon.connect();
    const session = await newSession(wire);
    const slow = session.run("sleep 1000");
    await wire.call("system.ping", {});
    await until("the command", async () => {
      return (await wire.call("exec.cancel", { session_id: session.id })).cancelled;
    });
    expect((await slow).reason).toBe("cancelled");
  });

  test("a thousand requests in one write are all answered", async () => {
    using wire = await daemon.connect();
    wire.send(Array.from({ length: 5000 }, (_, i) => `${ping(i)}\n`).join(""));
    await until("all replies", () => wire.frames.length === 5000);
    expect(new Set(wire.frames.map((frame) => frame["id"])).size).toBe(5000);
  });

  test("two hundred clients are served, and counted until they leave", async () => {
    const clients = await Promise.all(Array.from({ length: 200 }, () => daemon.connect()));
    await Promise.all(clients.map((client) => client.call("system.ping", {})));
    using observer = await daemon.connect();
    expect((await observer.call("system.stats", {})).connections).toBeGreaterThanOrEqual(200);
    for (const client of clients) client[Symbol.dispose]();
    await until(
      "the clients to be gone",
      async () => (await observer.call("system.stats", {})).connections < 20,
    );
  });

  test("sessions run in parallel", async () => {
    using wire = await daemon.connect();
    const sessions = await Promise.all(Array.from({ length: 20 }, () => newSession(wire)));
    using dir = tempDir();
    // Each command waits until all of them have begun.
    const command = `touch ${dir.path}/$$; while [ $(ls ${dir.path} | wc -l) -lt 20 ]; do sleep 0.05; done`;
    await Promise.all(sessions.map(async ({ run }) => expect((await run(command)).exit_code).toBe(0)));
  });
});

test("a client that never reads is not read, harms nobody and does not grow the daemon", async () => {
  using observer = await daemon.connect();
  const before = (await observer.call("system.stats", {})).memory_rss_bytes;
  const deaf = await daemon.connect();
  deaf.pause();
  const request = `${JSON.stringify({ id: "d", method: "system.describe" })}\n`.repeat(1000);
  for (let i = 0; i < 40; i++) deaf.send(request); // some 400 MB of replies, if they were all made
  for (let i = 0; i < 20; i++) await observer.call("system.ping", {});
  const after = (await observer.call("system.stats", {})).memory_rss_bytes;
  expect((after - before) / 1024 / 1024).toBeLessThan(128);
  deaf[Symbol.dispose]();
});
