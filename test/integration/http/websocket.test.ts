// WebSocket: who may open one, both dialects on it, and clients that misbehave.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type HttpDaemon, RawClient, rawRequest, SocketClient, startHttp } from "../../support/http.ts";
import { residentBytes } from "../../support/processes.ts";
import { until } from "../../support/wait.ts";
import type { Frame } from "../../support/wire.ts";

const allowed = "https://app.example.org";

let daemon: HttpDaemon;
beforeAll(async () => {
  daemon = await startHttp({ flags: ["--allow-origin", allowed, "--max-line-bytes", "1000000"] });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  expect(daemon.log()).not.toContain("internal error");
});

const newSession = async () => (await daemon.call("session.create", {})).session_id;

async function ticket(): Promise<string> {
  const reply = (await (await daemon.post("", { path: "/ticket" })).json()) as Frame;
  return reply["ticket"];
}

const handshake = (path: string, more: string[] = []) =>
  rawRequest(daemon.port, [
    `GET ${path} HTTP/1.1`,
    ...(more.some((line) => line.startsWith("Host")) ? [] : ["Host: localhost"]),
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ...more,
  ]).then(({ status }) => status);

describe("is opened by", () => {
  test("the token in a header", async () => {
    using client = await SocketClient.connect(daemon);
    expect(await client.request("system.ping")).toMatchObject({ ok: true });
  });

  test("a ticket, once", async () => {
    const path = `/ws?ticket=${await ticket()}`;
    {
      using client = await SocketClient.connect(daemon, { path, headers: { origin: allowed } });
      expect(await client.request("system.ping")).toMatchObject({ ok: true });
      expect(await handshake(path)).toBe(401);
    }
    expect(await handshake(path)).toBe(401);
  });

  test("one ticket, one of those who come at once", async () => {
    const path = `/ws?ticket=${await ticket()}`;
    const visits = Array.from({ length: 10 }, () =>
      SocketClient.connect(daemon, { path, headers: {} }).catch(() => undefined),
    );
    const opened = (await Promise.all(visits)).filter((client) => client !== undefined);
    expect(opened).toHaveLength(1);
    opened[0]![Symbol.dispose]();
  });

  test("nothing else", async () => {
    const bearer = `Authorization: Bearer ${daemon.token}`;
    const fresh = await ticket();
    expect(await handshake("/ws")).toBe(401);
    expect(await handshake("/ws", ["Authorization: Bearer wrong"])).toBe(401);
    expect(await handshake("/ws?ticket=")).toBe(401);
    expect(await handshake(`/ws?ticket=${"0".repeat(64)}`)).toBe(401);
    expect(await handshake(`/ws?ticket=${daemon.token}`)).toBe(401);
    expect(await handshake(`/ws?token=${daemon.token}`)).toBe(401);
    expect(await handshake(`/ws?ticket=${fresh}`, ["Origin: https://evil.example"])).toBe(403);
    expect(await handshake(`/ws?ticket=${fresh}`, ["Host: evil.example"])).toBe(403);
    expect(await handshake("/ws", [bearer, "Origin: https://evil.example"])).toBe(403);
    expect(await handshake("/ws", [bearer, "Origin: null"])).toBe(403);
    expect(await handshake("/ws", [bearer, "Host: evil.example"])).toBe(403);
    expect((await daemon.get("/ws")).status).toBe(400); // no WebSocket
  });

  test("a ticket is for who has the token", async () => {
    expect((await fetch(`${daemon.url}/ticket`, { method: "POST" })).status).toBe(401);
    const reply = (await (await daemon.post("", { path: "/ticket" })).json()) as Frame;
    expect(reply).toEqual({ ticket: expect.stringMatching(/^[0-9a-f]{64}$/), expires_in_s: 30 });
    expect(await (await daemon.post("", { path: "/ticket" })).json()).not.toEqual(reply);
  });

  test("a ticket opens nothing but that", async () => {
    const fresh = await ticket();
    expect((await fetch(`${daemon.url}/metrics?ticket=${fresh}`)).status).toBe(401);
    expect(
      (await fetch(`${daemon.url}/metrics`, { headers: { authorization: `Bearer ${fresh}` } })).status,
    ).toBe(401);
  });
});

describe("messages", () => {
  test("with several lines, without a newline, with one, of bytes, and of nothing", async () => {
    using client = await SocketClient.connect(daemon);
    const ping = (id: string) => `{"id":"${id}","method":"system.ping"}`;
    client.send(`${ping("a")}\n${ping("b")}\r\n\n${ping("c")}`);
    client.send(`${ping("d")}\n`);
    client.send("");
    client.send("\n");
    client.send(Buffer.from(ping("e")));
    client.send(Buffer.from(`${ping("f")}\n${ping("g")}\n`));
    for (const id of ["a", "b", "c", "d", "e", "f", "g"])
      expect(await client.frame((frame) => frame["id"] === id)).toMatchObject({ ok: true });
    expect(client.frames).toHaveLength(7);
  });

  test("that cannot be read are answered, and the connection stays", async () => {
    using client = await SocketClient.connect(daemon);
    for (const message of [
      "nonsense",
      "[]",
      Buffer.from('{"id":"\xff"}', "latin1"),
      '{"method":"system.ping"}',
    ])
      client.send(message);
    await until("four answers", () => client.frames.length === 4);
    for (const frame of client.frames)
      expect(frame).toMatchObject({ id: "unknown", ok: false, error: { code: "INVALID_PARAMS" } });
    expect(await client.request("system.ping")).toMatchObject({ ok: true });
  });

  test("of both dialects; the door has asked for the token already", async () => {
    using client = await SocketClient.connect(daemon);
    client.sendFrame({ type: "CreateSession", id: "ws1", shell: "/bin/sh" });
    await client.frame((frame) => frame["type"] === "SessionCreated");
    client.sendFrame({ type: "Subscribe", session_id: "ws1" });
    client.sendFrame({ type: "WriteInput", session_id: "ws1", data: "echo $((40+2)); exit 3\r" });
    expect(await client.frame((frame) => frame["type"] === "SessionClosed")).toMatchObject({ exit_code: 3 });
    const output = client.frames.filter((frame) => frame["type"] === "SessionOutput");
    expect(Buffer.concat(output.map(({ data }) => Buffer.from(data, "base64"))).toString()).toContain("42");
    expect(await client.request("system.ping")).toMatchObject({ ok: true });
    client.sendFrame({ type: "Auth", token: "wrong" });
    expect(await client.frame((frame) => frame["type"] === "AuthResult")).toMatchObject({ ok: false });
    await until("the end", () => client.closeCode !== undefined);
  });

  test("of just the limit are answered; a longer one ends the connection, and harms nobody", async () => {
    using client = await SocketClient.connect(daemon);
    using other = await SocketClient.connect(daemon);
    const start = '{"id":"1","method":"system.ping","p":"';
    client.send(`${start}${"x".repeat(1_000_000 - start.length - 2)}"}`);
    expect(await client.frame((frame) => frame["id"] === "1")).toMatchObject({ ok: true });
    client.send("x".repeat(1_100_000));
    await until("the end", () => client.closeCode !== undefined);
    expect(await other.request("system.ping")).toMatchObject({ ok: true });
  });

  test("by the thousand, in one message", async () => {
    using client = await SocketClient.connect(daemon);
    const numbers = Array.from({ length: 5000 }, (_, id) => id);
    client.send(numbers.map((id) => `{"id":${id},"method":"system.ping"}`).join("\n"));
    await until("all answers", () => client.frames.length === numbers.length);
    expect(client.frames.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(numbers);
  });

  test("a reply of many megabytes", async () => {
    using client = await SocketClient.connect(daemon);
    const session_id = await newSession();
    const params = {
      session_id,
      command: "head -c 30000000 /dev/zero | tr '\\0' a",
      max_output_bytes: 40_000_000,
    };
    const { data } = await client.request("exec.run", params);
    expect(data).toMatchObject({ stdout_bytes: 30_000_000, truncated: false });
    expect(data.stdout).toHaveLength(30_000_000);
  });
});

describe("streams", () => {
  test("come whole and in order", async () => {
    using client = await SocketClient.connect(daemon);
    const session_id = await newSession();
    let next = 0;
    const hasher = new Bun.CryptoHasher("sha256");
    client.keepsFrames = false;
    const exit = new Promise<Frame>((resolve) => {
      client.onFrame = (frame) => {
        if (frame["type"] === "exit") resolve(frame);
        if (frame["type"] !== "stdout") return;
        if (frame["offset"] !== next) throw new Error(`expected ${next}, got ${frame["offset"]}`);
        hasher.update(frame["data"]);
        next += Buffer.byteLength(frame["data"]);
      };
    });
    await client.request("exec.stream", { session_id, command: "seq 1 1000000" });
    expect(await exit).toMatchObject({ exit_code: 0, stdout_bytes: next });
    expect(hasher.digest("hex")).toBe(
      new Bun.CryptoHasher("sha256").update(Bun.spawnSync(["seq", "1", "1000000"]).stdout).digest("hex"),
    );
  });

  test("who leaves in the middle of one leaves nothing behind, and the command goes on", async () => {
    const connections = async () => (await daemon.call("system.stats", {})).connections;
    const before = await connections();
    const session_id = await newSession();
    for (const leaves of [
      (client: SocketClient) => client.close(),
      (client: SocketClient) => client[Symbol.dispose](),
    ]) {
      const client = await SocketClient.connect(daemon);
      const { data } = await client.request("exec.stream", {
        session_id,
        command: "while :; do echo x; sleep 0.01; done",
      });
      await client.frame((frame) => frame["type"] === "stdout");
      expect(await connections()).toBe(before + 1);
      leaves(client);
      await until("the end of the connection", async () => (await connections()) === before);
      expect((await daemon.call("session.info", { session_id })).state).toBe("running");
      await daemon.call("exec.cancel", { stream_id: data.stream_id });
      await until(
        "an idle session",
        async () => (await daemon.call("session.info", { session_id })).state === "idle",
      );
    }
  });

  test("who never reads one harms nobody", async () => {
    const session_id = await newSession();
    const before = residentBytes(daemon.pid);
    using client = await rawSocket();
    client.pause();
    const params = { session_id, command: "head -c 200000000 /dev/zero | tr '\\0' a", timeout_s: 0 };
    client.send(maskedText(JSON.stringify({ id: 1, method: "exec.stream", params })));
    const printed = async () =>
      (await daemon.call("exec.list", {})).streams.find((each) => each.session_id === session_id)
        ?.stdout_bytes ?? 0;
    await until("output", printed);
    let last = -1;
    await until("the command to be held back", async () => {
      await daemon.call("system.ping", {});
      await Bun.sleep(100);
      const earlier = last;
      last = await printed();
      return last === earlier;
    });
    expect(last).toBeLessThan(100e6);
    expect(residentBytes(daemon.pid) - before).toBeLessThan(64 * 1024 * 1024);
    await daemon.call("session.destroy", { session_id, force: true });
  });

  test("who asks on and on and never reads is let go", async () => {
    const before = residentBytes(daemon.pid);
    using client = await rawSocket();
    client.pause();
    const line = maskedText(
      Array.from({ length: 50 }, (_, id) => `{"id":${id},"method":"system.describe"}`).join("\n"),
    );
    const isLetGo = () => client.isClosed || client.unsent > 2e6;
    for (let sent = 0; sent < 4000 && !isLetGo(); sent++) {
      client.send(line);
      if (sent % 50 === 0) await daemon.call("system.ping", {});
    }
    expect(residentBytes(daemon.pid) - before).toBeLessThan(128 * 1024 * 1024);
    await until(
      "the end of the connection",
      async () => (await daemon.call("system.stats", {})).connections === 1,
    );
  });
});

/** A WebSocket whose bytes are not read unless the test does. */
async function rawSocket(): Promise<RawClient> {
  const client = await RawClient.connect(daemon.port);
  client.send(
    `GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer ${daemon.token}\r\n\r\n`,
  );
  expect(await client.status()).toBe(101);
  return client;
}

/** A client's message as one frame; the mask is 0, which leaves the bytes as they are. */
function maskedText(text: string): Buffer {
  const payload = Buffer.from(text);
  const head = Buffer.from([0x81, 0x80 | 126, payload.length >> 8, payload.length & 0xff, 0, 0, 0, 0]);
  if (payload.length > 0xffff || payload.length < 126) throw new Error("of another length");
  return Buffer.concat([head, payload]);
}
