// HTTP: one request a call, its status, streams behind it, numbers and a description.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { durationClasses } from "../../../src/core/command/metrics.ts";
import { type ErrorCode, errorCodes } from "../../../src/protocol/errors.ts";
import { methods } from "../../../src/protocol/methods.ts";
import { eventsOf, framesOf, type HttpDaemon, RawClient, startHttp } from "../../support/http.ts";
import { needs } from "../../support/needs.ts";
import { residentBytes } from "../../support/processes.ts";
import { sha256 } from "../../support/stream.ts";
import { until } from "../../support/wait.ts";
import type { Frame } from "../../support/wire.ts";

let daemon: HttpDaemon;
beforeAll(async () => {
  daemon = await startHttp({ flags: ["--max-sessions", "40"] });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  expect(daemon.log()).not.toContain("internal error");
});

const newSession = async () => (await daemon.call("session.create", {})).session_id;
const sse = { accept: "text/event-stream" };

async function failed(request: unknown, status: number, code: ErrorCode): Promise<Frame> {
  const response = await daemon.post(request);
  const reply = (await response.json()) as Frame;
  expect([response.status, reply["ok"], reply["error"].code]).toEqual([status, false, code]);
  expect(response.headers.get("content-type")).toBe("application/json");
  return reply;
}

describe("a request", () => {
  needs("curl").test("by curl, as the seeds write it", async () => {
    const line = `curl -X POST http://127.0.0.1:${daemon.port} \\
      -H "Authorization: Bearer $TRL_AUTH_TOKEN" \\
      -d '{"id":"1","method":"system.ping","params":{}}'`;
    const env = { PATH: process.env["PATH"], TRL_AUTH_TOKEN: daemon.token };
    const curl = Bun.spawn(["sh", "-c", line], { env, stdio: ["ignore", "pipe", "ignore"] });
    expect(await curl.stdout.text()).toMatch(
      /^\{"id":"1","ok":true,"data":\{"uptime_s":\d+,"version":"[^"]+"\}\}$/,
    );
  });

  needs("curl").test("by curl, too large for it to send without having asked", async () => {
    const request = JSON.stringify({
      id: "1",
      method: "system.ping",
      params: {},
      padding: "x".repeat(3_000_000),
    });
    const curl = Bun.spawn(
      [
        "curl",
        "-s",
        `${daemon.url}/rpc`,
        "-H",
        `Authorization: Bearer ${daemon.token}`,
        "--data-binary",
        "@-",
      ],
      { stdio: [Buffer.from(request), "pipe", "ignore"] },
    );
    expect(JSON.parse(await curl.stdout.text())).toMatchObject({ id: "1", ok: true });
  });

  test.each(["/", "/rpc", "/?a=b"])("to %s", async (path) => {
    const response = await daemon.post({ id: 7, method: "system.ping" }, { path });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.json()).toMatchObject({ id: 7, ok: true });
  });

  test("over several lines", async () => {
    const pretty = JSON.stringify({ id: "1", method: "system.ping", params: {} }, null, 2);
    for (const text of [pretty, pretty.replaceAll("\n", "\r\n"), `\n\n${pretty}\n\n`])
      expect(await (await daemon.post(text)).json()).toMatchObject({ id: "1", ok: true });
  });

  test("with an id that is a long number is answered with its digits", async () => {
    const text = await (await daemon.post('{"id":12345678901234567890,"method":"system.ping"}')).text();
    expect(text).toStartWith('{"id":12345678901234567890,"ok":true');
  });

  test("on a connection that is used again", async () => {
    using client = await RawClient.connect(daemon.port);
    const body = '{"id":1,"method":"system.ping"}';
    const head = `POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${daemon.token}\r\n`;
    for (let count = 1; count <= 3; count++) {
      client.send(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
      await until("the answer", () => client.received.split('"ok":true').length === count + 1);
    }
  });

  test("with bytes of any kind gets them back", async () => {
    const session_id = await newSession();
    const result = await daemon.call("exec.run", {
      session_id,
      command: "printf 'a\\377\\0b'; printf é >&2",
      encoding: "base64",
    });
    expect(Buffer.from(result.stdout, "base64")).toEqual(Buffer.from("a\xff\0b", "latin1"));
    expect(Buffer.from(result.stderr, "base64").toString()).toBe("é");
  });
});

describe("a status says what the reply says:", () => {
  test("INVALID_PARAMS", async () => {
    for (const body of ["", " \n", "{", "[]", '"x"', "null", "42", '{"id":"1","method":"system.ping"}}'])
      expect((await failed(body, 400, "INVALID_PARAMS"))["id"]).toBe("unknown");
    await failed(Buffer.from('{"id":"\xff","method":"system.ping"}', "latin1"), 400, "INVALID_PARAMS");
    await failed({ id: "1" }, 400, "INVALID_PARAMS");
    await failed({ method: "system.ping" }, 400, "INVALID_PARAMS");
    const reply = await failed({ id: "1", method: "system.pong" }, 400, "INVALID_PARAMS");
    expect(reply["id"]).toBe("1");
    expect(reply["error"].message).toContain("unsupported method");
    await failed({ id: "1", method: "exec.run", params: [] }, 400, "INVALID_PARAMS");
    await failed({ id: "1", method: "exec.stream", params: { session_id: 5 } }, 400, "INVALID_PARAMS");
  });

  test("a newline within a string is not mended: another command would be run", async () => {
    const session_id = await newSession();
    const body = `{"id":"1","method":"exec.run","params":{"session_id":"${session_id}","command":"echo a\necho b"}}`;
    await failed(body, 400, "INVALID_PARAMS");
  });

  test("the frontend dialect is not for single requests", async () => {
    await daemon.call("pty.create", { session_id: "fe", command: "sleep 1000" });
    for (const type of ["Ping", "Subscribe", "Auth"])
      await failed({ type, session_id: "fe", token: daemon.token }, 400, "INVALID_PARAMS");
    expect(
      (await daemon.call("pty.list", {})).sessions.find((each) => each.session_id === "fe")?.subscribers,
    ).toBe(0);
    await daemon.call("pty.close", { session_id: "fe" });
  });

  test("not found, busy, timeout, failed, unsupported", async () => {
    await failed(
      { id: 1, method: "session.info", params: { session_id: "s-00000000" } },
      404,
      "SESSION_NOT_FOUND",
    );
    await failed(
      { id: 1, method: "exec.attach", params: { stream_id: "x-00000000" } },
      404,
      "STREAM_NOT_FOUND",
    );
    const session_id = await newSession();
    const run = (command: string, more = {}) => ({
      id: 1,
      method: "exec.run",
      params: { session_id, command, ...more },
    });
    const timeout = await failed(run("echo partial; sleep 100", { timeout_s: 0.1 }), 504, "COMMAND_TIMEOUT");
    expect(timeout["error"].data).toMatchObject({ stdout: "partial\n", timed_out: true });
    await failed(run("exit 3", { check: true }), 422, "COMMAND_FAILED");
    expect((await daemon.post(run("exit 3"))).status).toBe(200);
    const running = daemon.post(run("sleep 100"));
    await until(
      "a busy session",
      async () => (await daemon.call("session.info", { session_id })).state === "running",
    );
    await failed(run("true"), 409, "SESSION_BUSY");
    await failed(
      { id: 1, method: "exec.stream", params: { session_id, command: "true" } },
      409,
      "SESSION_BUSY",
    );
    await daemon.call("exec.cancel", { session_id });
    expect((await running).status).toBe(200);
    await failed(
      { id: 1, method: "session.create", params: { stateful: true, isolation: { root: "/" } } },
      501,
      "UNSUPPORTED",
    );
  });

  test("whatever the id", async () => {
    for (const id of ["x".repeat(5000), ',"ok":true', '"\\,"ok":true', "{", -1.5e300, "\u2028é"]) {
      const reply = await failed(
        { id, method: "session.info", params: { session_id: "s-00000000" } },
        404,
        "SESSION_NOT_FOUND",
      );
      expect(reply["id"]).toBe(id);
      expect((await daemon.post({ id: `${id},"ok":false`, method: "system.ping" })).status).toBe(200);
    }
  });

  test("limits", async () => {
    await using small = await startHttp({ flags: ["--max-sessions", "1", "--session-max-commands", "1"] });
    const { session_id } = await small.call("session.create", {});
    await small.call("exec.run", { session_id, command: "true" });
    const statusOf = async (method: string, params: object) => {
      const response = await small.post({ id: 1, method, params });
      return [response.status, ((await response.json()) as Frame)["error"].code];
    };
    expect(await statusOf("exec.run", { session_id, command: "true" })).toEqual([
      429,
      "SESSION_LIMIT_EXCEEDED",
    ]);
    expect(await statusOf("session.create", {})).toEqual([429, "MAX_SESSIONS_REACHED"]);
  });

  test("no such path, no such method", async () => {
    for (const path of ["/x", "/rpc/", "/healthz/", "/constructor", "/..%2f", "/%00"])
      expect((await daemon.get(path)).status).toBe(404);
    for (const [path, allowed] of [
      ["/", "POST"],
      ["/rpc", "POST"],
      ["/ticket", "POST"],
    ] as const) {
      const response = await daemon.get(path);
      expect([response.status, response.headers.get("allow")]).toEqual([405, allowed]);
    }
    const response = await daemon.post({}, { path: "/metrics" });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET"]);
  });
});

describe("frames behind the reply", () => {
  test("as lines", async () => {
    const session_id = await newSession();
    const params = { session_id, command: "echo out; echo err >&2; exit 3" };
    const response = await daemon.post({ id: "1", method: "exec.stream", params });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    const frames = await Array.fromAsync(framesOf(response));
    expect(frames[0]).toMatchObject({ id: "1", ok: true, data: { session_id } });
    const { stream_id } = frames[0]!["data"];
    expect(frames.slice(1).every((frame) => frame["stream_id"] === stream_id)).toBeTrue();
    expect(frames.find(({ type }) => type === "stdout")).toMatchObject({ data: "out\n", offset: 0 });
    expect(frames.find(({ type }) => type === "stderr")).toMatchObject({ data: "err\n", offset: 0 });
    expect(frames.at(-1)).toMatchObject({ type: "exit", exit_code: 3 });
  });

  test("as events, whose ids lead on: each is followed by the exact rest, and nothing is run again", async () => {
    const session_id = await newSession();
    const marks = join(daemon.dir, "marks");
    const text = "a\\377é\\n";
    const command = `echo x >>${marks}; for i in 1 2 3; do printf '${text}'; printf '\\200e' >&2; sleep 0.02; done; printf '\\303'`;
    for (const encoding of ["utf8", "base64"] as const) {
      const request = { id: "1", method: "exec.stream", params: { session_id, command, encoding } };
      const all = await Array.fromAsync(eventsOf(await daemon.post(request, { headers: sse })));
      expect(all[0]).toMatchObject({ event: "reply", data: { id: "1", ok: true } });
      expect(all.at(-1)).toMatchObject({ event: "exit", data: { stdout_bytes: 16, stderr_bytes: 6 } });
      const whole = collected(
        all.map(({ data }) => data),
        encoding,
      );
      for (const [at, { id }] of all.entries()) {
        const rest = await Array.fromAsync(
          eventsOf(await daemon.post(request, { headers: { ...sse, "last-event-id": id! } })),
        );
        const seen = collected(
          all.slice(0, at + 1).map(({ data }) => data),
          encoding,
        );
        const missed = collected(
          rest.map(({ data }) => data),
          encoding,
        );
        expect({ out: seen.out + missed.out, err: seen.err + missed.err }).toEqual(whole);
        expect(rest.at(-1)).toMatchObject({ event: "exit", id: all.at(-1)!.id! });
      }
    }
    expect(readFileSync(marks, "utf8")).toBe("x\nx\n");
  });

  test("as events, taken up again while the command runs", async () => {
    const session_id = await newSession();
    const params = {
      session_id,
      command: "for i in 1 2 3 4 5 6; do echo $i; read -r _; done",
      open_stdin: true,
    };
    const request = { id: "1", method: "exec.stream", params };
    let lastId = "";
    let text = "";
    let streamId = "";
    for (let visit = 1; visit <= 6; visit++) {
      const response = await daemon.post(request, {
        headers: lastId ? { ...sse, "last-event-id": lastId } : sse,
      });
      for await (const { id, event, data } of eventsOf(response)) {
        lastId = id!;
        streamId ||= data["data"].stream_id;
        if (event === "stdout") {
          text += data["data"];
          break; // the connection is lost here
        }
      }
      await daemon.call("exec.write", { stream_id: streamId, data: "\n" });
    }
    expect(text).toBe("1\n2\n3\n4\n5\n6\n");
  });

  test("of exec.attach go on from the event, for its own stream alone", async () => {
    const session_id = await newSession();
    const streams: string[] = [];
    for (const word of ["one", "two"]) {
      const request = { id: 1, method: "exec.stream", params: { session_id, command: `printf ${word}` } };
      const [first] = await Array.fromAsync(framesOf(await daemon.post(request)));
      streams.push(first!["data"].stream_id);
    }
    const attach = async (id: string) => {
      const request = { id: 1, method: "exec.attach", params: { stream_id: streams[0] } };
      const response = await daemon.post(request, { headers: { ...sse, "last-event-id": id } });
      return collected(
        (await Array.fromAsync(eventsOf(response))).map(({ data }) => data),
        "utf8",
      ).out;
    };
    expect(await attach(`${streams[0]}:2:0`)).toBe("e");
    expect(await attach(`${streams[1]}:2:0`)).toBe("one");
    expect(await attach("nonsense")).toBe("one");
  });

  test("of exec.stream are not asked for by an id that is none: the command does not run again", async () => {
    const session_id = await newSession();
    const ran = join(daemon.dir, "ran-by-last-event-id");
    const request = { id: 1, method: "exec.stream", params: { session_id, command: `echo >${ran}` } };
    for (const id of ["nonsense", "x-00000000", "x-00000000:1", "x-00000000;0;0", "x-00000000:-1:0"]) {
      const response = await daemon.post(request, { headers: { ...sse, "last-event-id": id } });
      expect([id, response.status]).toEqual([id, 400]);
      expect(await response.json()).toMatchObject({ ok: false, error: { code: "INVALID_PARAMS" } });
    }
    expect(existsSync(ran)).toBe(false);
  });

  test("of a terminal, whose ids lead on", async () => {
    const command = 'stty -echo raw; echo begin; while read -r line; do echo "<$line>"; done';
    await daemon.call("pty.create", { session_id: "t:1", command, shell: "/bin/sh" });
    await daemon.call("pty.wait", { session_id: "t:1", until: { text: "begin" }, timeout_s: 10 });
    const request = { id: 1, method: "pty.subscribe", params: { session_id: "t:1", from: 0 } };
    let lastId = "";
    let bytes = "";
    for (const word of ["alpha", "beta", "gamma"]) {
      const response = await daemon.post(request, {
        headers: lastId ? { ...sse, "last-event-id": lastId } : sse,
      });
      await daemon.call("pty.write", { session_id: "t:1", data: `${word}\n` });
      for await (const { id, event, data } of eventsOf(response)) {
        lastId = id ?? lastId;
        if (event === "output") bytes += Buffer.from(data["data"], "base64");
        if (bytes.includes(`<${word}>`)) break;
      }
      await daemon.call("pty.write", { session_id: "t:1", data: "between\n" });
    }
    expect(bytes.replaceAll("\r", "")).toMatch(/^begin\n<alpha>\n<between>\n<beta>\n<between>\n<gamma>\n?$/);
    const last = await daemon.post(request, { headers: { ...sse, "last-event-id": lastId } });
    await daemon.call("pty.close", { session_id: "t:1" });
    const events = await Array.fromAsync(eventsOf(last));
    expect(events.at(-1)!.event).toBe("exit");
  });

  test("are no more and no less than what was printed, 20 MB of it", async () => {
    const session_id = await newSession();
    const command = "seq 1 2500000";
    const response = await daemon.post({ id: 1, method: "exec.stream", params: { session_id, command } });
    const hasher = new Bun.CryptoHasher("sha256");
    let next = 0;
    for await (const { type, data, offset } of framesOf(response)) {
      if (type !== "stdout") continue;
      expect(offset).toBe(next);
      hasher.update(data);
      next += Buffer.byteLength(data);
    }
    expect(hasher.digest("hex")).toBe(sha256(Bun.spawnSync(["seq", "1", "2500000"]).stdout));
  });
});

function collected(frames: Frame[], encoding: "utf8" | "base64"): { out: string; err: string } {
  const text = (type: string) =>
    frames
      .filter((frame) => frame["type"] === type)
      .map(({ data }) => (encoding === "base64" ? Buffer.from(data, "base64").toString("latin1") : data))
      .join("");
  return { out: text("stdout"), err: text("stderr") };
}

describe("clients that misbehave", () => {
  const connections = async () => (await daemon.call("system.stats", {})).connections;
  const descriptors = () => readdirSync(`/proc/${daemon.pid}/fd`).length;

  needs("linux").test(
    "who leaves in the middle of a stream leaves nothing behind, and the command goes on",
    async () => {
      const session_id = await newSession();
      const before = { connections: await connections(), descriptors: descriptors() };
      const done = join(daemon.dir, "done");
      const command = `while [ ! -e ${done}.go ]; do echo more; sleep 0.01; done; echo x >>${done}`;
      const response = await daemon.post({ id: 1, method: "exec.stream", params: { session_id, command } });
      for await (const frame of framesOf(response)) if (frame["type"] === "stdout") break;
      await until("the connection to be gone", async () => (await connections()) === before.connections);
      expect((await daemon.call("session.info", { session_id })).state).toBe("running");
      await Bun.write(`${done}.go`, "");
      await until("the end of the command", async () => (await Bun.file(done).exists()) && true);
      await until(
        "an idle session",
        async () => (await daemon.call("session.info", { session_id })).state === "idle",
      );
      await until("the descriptors", () => descriptors() <= before.descriptors + 1);
    },
  );

  test("who leaves while a command runs does not stop it", async () => {
    const session_id = await newSession();
    const file = join(daemon.dir, "after");
    const body = JSON.stringify({
      id: 1,
      method: "exec.run",
      params: { session_id, command: `sleep 0.2; echo x >${file}` },
    });
    {
      using client = await RawClient.connect(daemon.port);
      client.send(
        `POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${daemon.token}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      await until(
        "the command",
        async () => (await daemon.call("session.info", { session_id })).state === "running",
      );
    }
    await until("its end", () => Bun.file(file).exists());
  });

  test("who never reads harms nobody", async () => {
    const session_id = await newSession();
    const params = { session_id, command: "head -c 200000000 /dev/zero | tr '\\0' a", timeout_s: 0 };
    const body = JSON.stringify({ id: 1, method: "exec.stream", params });
    const before = residentBytes(daemon.pid);
    using client = await RawClient.connect(daemon.port);
    client.pause();
    client.send(
      `POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${daemon.token}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await until(
      "the command",
      async () => (await daemon.call("session.info", { session_id })).state === "running",
    );
    for (let ping = 0; ping < 200; ping++) {
      await daemon.call("system.ping", {});
      expect(residentBytes(daemon.pid) - before).toBeLessThan(64 * 1024 * 1024);
    }
    const printed = async () =>
      (await daemon.call("exec.list", {})).streams.find((each) => each.session_id === session_id)!
        .stdout_bytes;
    let last = -1;
    await until("the command to be held back", async () => {
      await Bun.sleep(100);
      const before = last;
      last = await printed();
      return last === before;
    });
    expect(last).toBeLessThan(100e6);
    expect(residentBytes(daemon.pid) - before).toBeLessThan(64 * 1024 * 1024);
    client[Symbol.dispose]();
    await until("the connection to be gone", async () => (await connections()) === 1);
    await daemon.call("session.destroy", { session_id, force: true });
  });

  test("who reads slowly misses nothing", async () => {
    const session_id = await newSession();
    const params = { session_id, command: "seq 1 3000000", timeout_s: 0 };
    const frames = framesOf(await daemon.post({ id: 1, method: "exec.stream", params }));
    const hasher = new Bun.CryptoHasher("sha256");
    let pauses = 0;
    for await (const { type, data } of frames) {
      if (type === "stdout") hasher.update(data);
      if (pauses++ < 20) await Bun.sleep(20);
    }
    expect(hasher.digest("hex")).toBe(sha256(Bun.spawnSync(["seq", "1", "3000000"]).stdout));
  });

  test("who does not read for too long is told so, and may go on from there", async () => {
    const session_id = await newSession();
    const command = "head -c 30000000 /dev/zero | tr '\\0' a";
    const request = {
      id: 1,
      method: "exec.stream",
      params: { session_id, command, timeout_s: 0, stall_timeout_s: 0.2 },
    };
    const response = await daemon.post(request, { headers: sse });
    await until(
      "the command to be let go",
      async () => (await daemon.call("session.info", { session_id })).state === "idle",
    );
    let seen = 0;
    let lastId = "";
    for await (const { id, event, data } of eventsOf(response)) {
      if (event === "stdout") seen += data["data"].length;
      if (event === "gap") seen = data["to"];
      lastId = id!;
      if (event === "lagged") expect(data["stdout_offset"]).toBe(seen);
    }
    const ends = [];
    for await (const { event, data } of eventsOf(
      await daemon.post(request, { headers: { ...sse, "last-event-id": lastId } }),
    )) {
      if (event === "reply") seen = data["data"].stdout_offset; // the first that is still kept
      if (event === "stdout") seen += data["data"].length;
      ends.push(event);
    }
    expect([seen, ends.at(-1)]).toEqual([30_000_000, "exit"]);
  });

  test("who breaks off while asking", async () => {
    const before = await connections();
    for (const half of [
      "POST / HT",
      "POST / HTTP/1.1\r\nHost: localhost\r\n",
      `POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${daemon.token}\r\nContent-Length: 100\r\n\r\n{"id"`,
    ]) {
      using client = await RawClient.connect(daemon.port);
      client.send(half);
      await daemon.call("system.ping", {});
    }
    expect(await connections()).toBe(before);
  });

  test("who asks to watch and leaves at once, at whatever moment", async () => {
    await daemon.call("pty.create", {
      session_id: "watched",
      command: "while :; do echo x; sleep 0.01; done",
    });
    const body = JSON.stringify({ id: 1, method: "pty.subscribe", params: { session_id: "watched" } });
    const head = `POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${daemon.token}\r\n`;
    for (let visit = 0; visit < 100; visit++) {
      using client = await RawClient.connect(daemon.port);
      client.send(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
      if (visit % 3 === 1) await Bun.sleep(0);
      if (visit % 3 === 2) await client.status();
    }
    await until("all to be gone", async () => (await connections()) === 1);
    expect((await daemon.call("system.stats", {})).subscribers).toBe(0);
    await daemon.call("pty.close", { session_id: "watched" });
  });

  test("200 at a time are all answered", async () => {
    const session_ids = await Promise.all(Array.from({ length: 10 }, newSession));
    const ask = async (n: number) => {
      const slow = n % 20 === 0;
      const params = slow ? { session_id: session_ids[n / 20], command: `echo ${n}` } : {};
      const response = await daemon.post({ id: n, method: slow ? "exec.run" : "system.ping", params });
      const reply = (await response.json()) as Frame;
      if (slow) expect(reply["data"].stdout).toBe(`${n}\n`);
      return reply["id"];
    };
    const numbers = Array.from({ length: 200 }, (_, n) => n);
    expect(await Promise.all(numbers.map(ask))).toEqual(numbers);
    for (const session_id of session_ids) await daemon.call("session.destroy", { session_id });
  });
});

describe("what it says of itself", () => {
  test("health, to anybody", async () => {
    const response = await fetch(`${daemon.url}/healthz`);
    expect((await fetch(`${daemon.url}/healthz`, { method: "HEAD" })).status).toBe(200);
    expect([response.status, await response.json()]).toEqual([200, { ok: true }]);
  });

  test("numbers in the text format of Prometheus", async () => {
    await using own = await startHttp();
    const { session_id } = await own.call("session.create", {});
    const run = (command: string, more = {}) =>
      own.post({ id: 1, method: "exec.run", params: { session_id, command, ...more } });
    await run("printf 12345");
    await run("exit 1");
    await run("kill -9 $$");
    await run("sleep 10", { timeout_s: 0.06 });
    await own.call("pty.create", { session_id: "t", command: "sleep 100" });
    await own.post("nonsense");
    await fetch(`${own.url}/metrics`);
    const response = await own.get("/metrics");
    expect(response.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
    const samples = parsePrometheus(await response.text());
    expect(samples).toMatchObject({
      'trl_sessions{kind="exec"}': 1,
      'trl_sessions{kind="pty"}': 1,
      trl_commands_running: 0,
      'trl_commands_total{outcome="exit"}': 1,
      'trl_commands_total{outcome="failure"}': 1,
      'trl_commands_total{outcome="signal"}': 1,
      'trl_commands_total{outcome="timeout"}': 1,
      'trl_commands_total{outcome="cancelled"}': 0,
      trl_command_output_bytes_total: 5,
      'trl_errors_total{code="COMMAND_TIMEOUT"}': 1,
      'trl_errors_total{code="INVALID_PARAMS"}': 1,
      'trl_errors_total{code="AUTH_FAILED"}': 1,
      trl_command_duration_seconds_count: 4,
      'trl_command_duration_seconds_bucket{le="+Inf"}': 4,
    });
    const classes = durationClasses.map(
      (bound) => samples[`trl_command_duration_seconds_bucket{le="${bound}"}`]!,
    );
    expect(classes).toEqual(classes.toSorted((a, b) => a - b));
    expect(classes[2]).toBeLessThan(4); // the one that was let run for 60 ms
    expect(classes.at(-1)).toBe(4);
    expect(samples["trl_resident_memory_bytes"]).toBeGreaterThan(1e6);
    expect(samples["trl_command_duration_seconds_sum"]).toBeGreaterThan(0.05);
  });

  test("a description with every method, code and path, whose references lead somewhere", async () => {
    const description = (await (await daemon.get("/openapi.json")).json()) as Frame;
    const text = JSON.stringify(description);
    const { oneOf } = description["paths"]["/rpc"].post.requestBody.content["application/json"].schema;
    expect(oneOf.map((call: Frame) => call["properties"].method.const)).toEqual(Object.keys(methods));
    const { responses } = description["paths"]["/"].post;
    for (const [code, { http }] of Object.entries(errorCodes))
      expect(responses[String(http)].description).toContain(code);
    const references = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path!);
    expect(references.length).toBeGreaterThan(0);
    for (const path of references) {
      const target = path.split("/").reduce((node, key) => node?.[key], description as Frame | undefined);
      expect([path, typeof target]).toEqual([path, "object"]);
    }
    for (const path of Object.keys(description["paths"]))
      expect((await fetch(`${daemon.url}${path}`, { headers: daemon.bearer })).status).not.toBe(404);
  });
});

/** Strict: every line is a comment or a sample, and every sample has its type said before. */
function parsePrometheus(text: string): Record<string, number> {
  const types = new Map<string, string>();
  const samples: Record<string, number> = {};
  expect(text).toEndWith("\n");
  for (const line of text.trimEnd().split("\n")) {
    const comment = /^# (HELP|TYPE) ([a-z_]+) (.+)$/.exec(line);
    if (comment) {
      if (comment[1] === "TYPE") types.set(comment[2]!, comment[3]!);
      continue;
    }
    const [, name, labels = "", value] = /^([a-z_]+)(\{[a-z]+="[^"\\]*"\})? (\S+)$/.exec(line) ?? [];
    if (!name || Number.isNaN(Number(value))) throw new Error(`not a sample: ${line}`);
    const family = name.replace(/_(?:bucket|sum|count)$/, "");
    if (!types.has(name) && types.get(family) !== "histogram") throw new Error(`no type before: ${line}`);
    samples[name + labels] = Number(value);
  }
  return samples;
}
