// Each way in by HTTP that must stay closed.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type HttpDaemon, RawClient, rawRequest, startHttp } from "../../support/http.ts";
import { needs } from "../../support/needs.ts";
import { residentBytes } from "../../support/processes.ts";
import { binary } from "../../support/program.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { hangMs, until } from "../../support/wait.ts";
import type { Frame } from "../../support/wire.ts";

const allowed = "https://app.example.org";
const secret = "s3cret-0f-the-test";
const head = () => `POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${secret}\r\n`;
const ping = '{"id":"1","method":"system.ping"}';

let daemon: HttpDaemon;
let untimely: Promise<RawClient[]>;
beforeAll(async () => {
  daemon = await startHttp({
    flags: [
      "--allow-origin",
      `${allowed},http://localhost:3000`,
      "--max-line-bytes",
      "100000",
      "--verbose",
      "--log-format",
      "json",
    ],
    env: { TRL_AUTH_TOKEN: secret },
  });
  untimely = slowHeaders();
  untimely.catch(() => {}); // it is for its test to fail
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  expect(daemon.log()).not.toContain("internal error");
});

const doors = [
  ["POST", "/"],
  ["POST", "/rpc"],
  ["POST", "/ticket"],
  ["GET", "/ws"],
  ["GET", "/metrics"],
  ["GET", "/openapi.json"],
  ["GET", "/nothing"],
] as const;

/** The status of a request by each door, and the reply that must be the same at all of them. */
async function knock(
  headers: Record<string, string>,
  query = "",
): Promise<{ status: number; text: string }[]> {
  return await Promise.all(
    doors.map(async ([method, path]) => {
      const body = method === "POST" ? { body: ping } : {};
      const response = await fetch(`${daemon.url}${path}${query}`, { method, headers, ...body });
      return { status: response.status, text: await response.text() };
    }),
  );
}

describe("the token", () => {
  const right = `Bearer ${secret}`;

  test.each<[how: string, headers: Record<string, string>]>([
    ["missing", {}],
    ["empty", { authorization: "" }],
    ["of length 0", { authorization: "Bearer " }],
    ["wrong", { authorization: "Bearer wrong" }],
    ["wrong, of the same length", { authorization: `Bearer ${"x".repeat(secret.length)}` }],
    ["too long", { authorization: `${right}x` }],
    ["too short", { authorization: right.slice(0, -1) }],
    ["followed by another", { authorization: `${right} other` }],
    ["of another scheme", { authorization: `Basic ${btoa(`:${secret}`)}` }],
    ["as a scheme", { authorization: secret }],
    ["in a cookie", { cookie: `token=${secret}` }],
    ["in another header", { "x-auth-token": secret }],
  ])("is needed: %s", async (_, headers) => {
    const answers = await knock(headers);
    expect(answers.map(({ status }) => status)).toEqual(doors.map(() => 401));
    for (const { text } of answers) {
      expect(JSON.parse(text)).toMatchObject({ id: "unknown", ok: false, error: { code: "AUTH_FAILED" } });
      expect(text).not.toContain(secret);
    }
  });

  test("is not taken from the address", async () => {
    for (const query of [`?token=${secret}`, `?access_token=${secret}`, `?ticket=${secret}`])
      expect(new Set((await knock({}, query)).map(({ status }) => status))).toEqual(new Set([401]));
  });

  test("is refused in the same words, whatever was wrong", async () => {
    const texts = [];
    for (const authorization of ["", "Bearer x", `Basic ${secret}`, `Bearer ${secret}x`]) {
      const response = await fetch(daemon.url, { method: "POST", body: ping, headers: { authorization } });
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      texts.push(await response.text());
    }
    expect(new Set(texts).size).toBe(1);
  });

  test("opens, also where the scheme is written small", async () => {
    for (const scheme of ["Bearer", "bearer", "BEARER"])
      expect(
        (
          await fetch(daemon.url, {
            method: "POST",
            body: ping,
            headers: { authorization: `${scheme} ${secret}` },
          })
        ).status,
      ).toBe(200);
  });

  test("of the file, where the environment has none", async () => {
    await using other = await startHttp();
    expect((await other.post(ping)).status).toBe(200);
    expect((await other.post(ping, { headers: { authorization: `Bearer ${secret}` } })).status).toBe(401);
  });

  test("is in no log and in no answer", async () => {
    const told: string[] = [];
    for (const path of [
      "/metrics",
      "/openapi.json",
      `/${secret}`,
      `/ws?ticket=${secret}`,
      `/healthz?${secret}`,
    ])
      told.push(await (await daemon.get(path)).text());
    for (const method of ["system.describe", "system.stats", "session.list", "pty.list"])
      told.push(await (await daemon.post({ id: 1, method })).text());
    const { session_id } = await daemon.call("session.create", {});
    told.push((await daemon.call("exec.run", { session_id, command: "env" })).stdout);
    await daemon.post("not json", { headers: { "x-other": secret } });
    expect(told.filter((text) => text.includes(secret))).toEqual([]);
    await until("the log of the command", () => daemon.log().includes(session_id));
    expect(daemon.log()).not.toContain(secret);
  });
});

describe("Host", () => {
  const statusFor = async (...host: string[]) =>
    (
      await rawRequest(
        daemon.port,
        ["POST / HTTP/1.1", ...host, `Authorization: Bearer ${secret}`, `Content-Length: ${ping.length}`],
        ping,
      )
    ).status;

  test.each([
    "evil.example",
    "evil.example:80",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evil.example#localhost",
    "localhost@evil.example",
    "evil@localhost",
    "localhost, evil.example",
    "192.168.0.1",
    "0.0.0.0",
    "127.0.0.2",
    "[::2]",
    "[::1",
    "::1",
    "a b",
    "",
    "localhost:port",
    "localhost:1:2",
    "localhost/x",
  ])(
    "%p with the right token is refused: it is how a page would come in by a name of its own",
    async (host) => {
      expect([400, 403]).toContain(await statusFor(`Host: ${host}`));
    },
  );

  test("missing", async () => {
    expect(await statusFor()).toBe(400);
    const lines = ["POST / HTTP/1.0", `Authorization: Bearer ${secret}`, `Content-Length: ${ping.length}`];
    expect((await rawRequest(daemon.port, lines, ping)).status).toBe(403);
  });

  test("twice", async () => {
    expect([400, 403]).toContain(await statusFor("Host: localhost", "Host: evil.example"));
    expect([400, 403]).toContain(await statusFor("Host: evil.example", "Host: localhost"));
  });

  test("that is ours, by any port", async () => {
    for (const host of ["localhost", "LocalHost", "localhost.", "127.0.0.1", "[::1]", "app.example.org"])
      for (const port of ["", `:${daemon.port}`, ":80", ":65535"])
        expect([host, port, await statusFor(`Host: ${host}${port}`)]).toEqual([host, port, 200]);
  });

  test("a refusal leaves nothing done", async () => {
    const file = join(daemon.dir, "done");
    const { session_id } = await daemon.call("session.create", {});
    const body = JSON.stringify({
      id: 1,
      method: "exec.run",
      params: { session_id, command: `touch ${file}` },
    });
    const lines = [
      "POST / HTTP/1.1",
      "Host: evil.example",
      `Authorization: Bearer ${secret}`,
      `Content-Length: ${body.length}`,
    ];
    expect((await rawRequest(daemon.port, lines, body)).status).toBe(403);
    expect((await daemon.call("session.info", { session_id })).command_count).toBe(0);
    expect(existsSync(file)).toBeFalse();
  });
});

describe("Origin", () => {
  const withOrigin = (origin: string, method = "POST") =>
    fetch(daemon.url, {
      method,
      headers: { ...daemon.bearer, origin },
      ...(method === "POST" ? { body: ping } : {}),
    });

  test.each([
    "https://evil.example",
    "null",
    "http://app.example.org",
    "https://app.example.org:8443",
    "https://app.example.org.evil.example",
    "https://APP.example.org.",
    "http://localhost",
    "http://127.0.0.1:3000",
    "file://",
    " ,",
  ])("%p is refused, and may not ask beforehand", async (origin) => {
    for (const method of ["POST", "OPTIONS"]) {
      const response = await withOrigin(origin, method);
      expect([method, response.status]).toEqual([method, 403]);
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  test("one of --allow-origin is let in, and told so", async () => {
    for (const origin of [allowed, "http://localhost:3000"]) {
      const preflight = await withOrigin(origin, "OPTIONS");
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get("access-control-allow-headers")).toContain("authorization");
      expect(preflight.headers.get("access-control-allow-methods")).toContain("POST");
      const response = await withOrigin(origin);
      expect(response.status).toBe(200);
      for (const { headers } of [preflight, response]) {
        expect(headers.get("access-control-allow-origin")).toBe(origin);
        expect(headers.get("access-control-allow-credentials")).toBeNull();
        expect(headers.get("vary")).toBe("origin");
      }
    }
  });

  test("one of --allow-origin can read why it was refused", async () => {
    for (const body of ["nonsense", "x".repeat(200_000)]) {
      const response = await daemon.post(body, { headers: { origin: allowed } });
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.headers.get("access-control-allow-origin")).toBe(allowed);
    }
    const response = await daemon.post(ping, { headers: { origin: allowed, authorization: "" } });
    expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([401, allowed]);
  });
});

describe("too much", () => {
  const chunk = `2710\r\n${"x".repeat(10_000)}\r\n`;

  const withoutToken = "POST / HTTP/1.1\r\nHost: localhost\r\n";
  const wrongToken = `${withoutToken}Authorization: Bearer wrong\r\n`;

  /** The body is what is expected of a reply: its code, whatever came before it (100 Continue). */
  async function refusalOf(request: string): Promise<{ status: number; code: string }> {
    using client = await RawClient.connect(daemon.port);
    client.send(request);
    const [, status, body] = await until("a whole answer", () =>
      /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 (\d+).*?\r\n\r\n(\{.*\})$/s.exec(client.received),
    );
    return { status: Number(status), code: (JSON.parse(body!) as Frame)["error"].code };
  }

  test("a body that is announced as too long is not read", async () => {
    const tooLarge = { status: 413, code: "REQUEST_TOO_LARGE" };
    for (const length of [100_001, 150_000, 1e9, 1e15])
      for (const expectation of ["", "Expect: 100-continue\r\n"]) {
        const more = `${expectation}Content-Length: ${length}\r\n\r\n`;
        expect(await refusalOf(`${head()}${more}`)).toEqual(tooLarge);
        for (const start of [withoutToken, wrongToken])
          expect(await refusalOf(`${start}${more}`)).toEqual({ status: 401, code: "AUTH_FAILED" });
      }
    const response = await daemon.post("x".repeat(100_001));
    expect(response.status).toBe(413);
    expect(((await response.json()) as Frame)["error"].code).toBe("REQUEST_TOO_LARGE");
  });

  test("a body of just the limit is read", async () => {
    const start = '{"id":"1","method":"system.ping","p":"';
    expect((await daemon.post(`${start}${"x".repeat(100_000 - start.length - 2)}"}`)).status).toBe(200);
  });

  test("a body in pieces", async () => {
    for (const count of [11, 1000]) {
      const more = `Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(count)}0\r\n\r\n`;
      expect(await refusalOf(`${head()}${more}`)).toEqual({ status: 413, code: "REQUEST_TOO_LARGE" });
      expect(await refusalOf(`${wrongToken}${more}`)).toEqual({ status: 401, code: "AUTH_FAILED" });
    }
  });

  test("a long body, with its length or in pieces, costs no memory, and the connection is good for another", async () => {
    const before = residentBytes(daemon.pid);
    const bytes = 200_000_000;
    for (const [start, refused] of [
      [head(), 413],
      [wrongToken, 401],
    ] as const)
      for (const isChunked of [true, false]) {
        using client = await RawClient.connect(daemon.port);
        client.send(
          `${start}${isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes}`}\r\n\r\n`,
        );
        const piece = (isChunked ? chunk : "x".repeat(10_000)).repeat(100);
        for (let sent = 0; sent < bytes; sent += 1_000_000) {
          client.send(piece);
          await until("room", () => client.unsent < 2_000_000);
          expect(residentBytes(daemon.pid) - before).toBeLessThan(64 * 1024 * 1024);
        }
        client.send(`${isChunked ? "0\r\n\r\n" : ""}${head()}Content-Length: ${ping.length}\r\n\r\n${ping}`);
        const answers = () => client.received.match(/HTTP\/1\.1 \d+/g)?.map((line) => Number(line.slice(9)));
        await until("both answers", () => answers()?.length === 2);
        expect(answers()).toEqual([refused, 200]);
      }
  });

  test("a body without end, whoever sends it", async () => {
    const before = residentBytes(daemon.pid);
    for (const start of [
      head(),
      "POST / HTTP/1.1\r\nHost: localhost\r\n",
      "POST / HTTP/1.1\r\nHost: evil\r\n",
    ]) {
      using client = await RawClient.connect(daemon.port);
      client.send(`${start}Transfer-Encoding: chunked\r\n\r\n`);
      for (let sent = 0; sent < 5000 && !client.isClosed; sent += 100) {
        client.send(chunk.repeat(100));
        await until("room", () => client.isClosed || client.unsent < 1e6 || /^HTTP/.test(client.received));
        if (client.unsent >= 1e6) break; // it is not read any more
      }
      expect([401, 403, 413]).toContain(await client.status());
    }
    expect(residentBytes(daemon.pid) - before).toBeLessThan(64 * 1024 * 1024);
    expect((await daemon.post(ping)).status).toBe(200);
  });

  test("of headers", async () => {
    using client = await RawClient.connect(daemon.port);
    client.send(`${head()}X: ${"x".repeat(100_000)}\r\n\r\n`);
    expect([431, 0]).toContain(await client.status());
    await client.untilClosed();
  });

  test("of headers that do not end", async () => {
    using client = await RawClient.connect(daemon.port);
    client.send(head());
    for (let line = 0; line < 10_000 && !client.isClosed; line++) {
      client.send(`X-${line}: ${"x".repeat(100)}\r\n`);
      if (line % 100 === 0) await Bun.sleep(0);
    }
    expect([400, 431, 0]).toContain(await client.status());
  });

  test("what is no HTTP at all, or smuggles a second request", async () => {
    for (const bytes of [
      "hello\r\n\r\n",
      "\0\0\0\0\r\n\r\n",
      `${ping}\n`,
      `${head()}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      `${head()}Content-Length: -1\r\n\r\n`,
      `${head()}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`,
    ]) {
      using client = await RawClient.connect(daemon.port);
      client.send(bytes);
      if (bytes === `${ping}\n`) client.send("\r\n\r\n");
      expect([0, 400, 505]).toContain(await client.status());
    }
    expect((await daemon.post(ping)).status).toBe(200);
  });
});

describe("an address that others can reach", () => {
  function serve(flags: string[], env: Record<string, string> = {}) {
    const dir = tempDir();
    const { exitCode, stderr, stdout } = Bun.spawnSync(
      [binary, "serve", "--allow-root", "--socket-path", join(dir.path, "s"), ...flags],
      {
        env: { PATH: process.env["PATH"], TRL_RUNTIME_DIR: process.env["TRL_RUNTIME_DIR"], ...env },
        stdio: ["ignore", "pipe", "pipe"],
        timeout: hangMs,
      },
    );
    const isLeft = existsSync(join(dir.path, "s"));
    dir[Symbol.dispose]();
    return { exitCode, said: stderr.toString() + stdout, isLeft };
  }

  test("is refused without TLS", () => {
    for (const address of ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.org:0"]) {
      const { exitCode, said, isLeft } = serve(["--http", address]);
      expect([exitCode, isLeft]).toEqual([64, false]);
      expect(said).toContain("--insecure-http");
    }
  });

  test("is warned of with --insecure-http, and checks Host", async () => {
    await using open = await startHttp({ flags: ["--http", "0.0.0.0:0", "--insecure-http"] });
    expect(open.log()).toContain("clear text");
    const statusFor = async (host: string) =>
      (
        await rawRequest(open.port, [
          "GET /metrics HTTP/1.1",
          `Host: ${host}`,
          `Authorization: Bearer ${open.token}`,
        ])
      ).status;
    expect(await statusFor("localhost")).toBe(200);
    expect(await statusFor("10.1.2.3:80")).toBe(200);
    expect(await statusFor("evil.example")).toBe(403);
    expect((await fetch(`http://127.0.0.1:${open.port}/metrics`)).status).toBe(401);
  });

  test("a loopback address is not warned of", () => expect(daemon.log()).not.toContain("clear text"));

  needs("openssl").test("with TLS", async () => {
    using dir = tempDir();
    const { certFile, keyFile } = selfSigned(dir.path);
    const flags = ["--http", "0.0.0.0:0", "--tls-cert", certFile, "--tls-key", keyFile];
    await using safe = await startHttp({ flags });
    expect(safe.url).toStartWith("https://");
    expect(safe.log()).not.toContain("clear text");
    const response = await fetch(`https://localhost:${safe.port}/`, {
      method: "POST",
      body: ping,
      headers: safe.bearer,
      tls: { ca: Bun.file(certFile) },
    });
    expect(await response.json()).toMatchObject({ id: "1", ok: true });
    expect(fetch(`https://localhost:${safe.port}/healthz`)).rejects.toThrow();
    expect([0, 400]).toContain(
      (await rawRequest(safe.port, ["GET /healthz HTTP/1.1", "Host: localhost"])).status,
    );
  });

  needs("openssl").test("with files that are no certificate and no key", () => {
    using dir = tempDir();
    const { certFile, keyFile } = selfSigned(dir.path);
    const garbage = join(dir.path, "garbage");
    writeFileSync(garbage, "garbage\n");
    for (const [cert, key] of [
      [join(dir.path, "missing"), keyFile],
      [garbage, keyFile],
      [certFile, garbage],
      [keyFile, certFile],
      [dir.path, keyFile],
    ] as const) {
      const { exitCode, said, isLeft } = serve([
        "--http",
        "127.0.0.1:0",
        "--tls-cert",
        cert,
        "--tls-key",
        key,
      ]);
      expect([cert, exitCode, isLeft]).toEqual([cert, 1, false]);
      expect(said).toContain("--tls-cert");
      expect(said).not.toContain("PRIVATE KEY");
      expect(said).not.toContain("    at "); // a message, not a stack
    }
  });

  test("that is taken, or is none", () => {
    for (const address of [`127.0.0.1:${daemon.port}`, "127.0.0.999:0"]) {
      const { exitCode, said, isLeft } = serve(["--http", address]);
      expect([address, exitCode, isLeft]).toEqual([address, 1, false]);
      expect(said).toContain("--http");
      expect(said).not.toContain("    at ");
    }
  });
});

function selfSigned(dir: string): { certFile: string; keyFile: string } {
  const [certFile, keyFile] = [join(dir, "cert.pem"), join(dir, "key.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const { success, stderr } = Bun.spawnSync(
    ["openssl", "req", ...kind, "-keyout", keyFile, "-out", certFile, ...subject],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  if (!success) throw new Error(stderr.toString());
  return { certFile, keyFile };
}

/** Clients that do not finish their headers; they wait while the other tests run. */
async function slowHeaders(): Promise<RawClient[]> {
  const clients = await Promise.all([1, 2, 3].map(() => RawClient.connect(daemon.port)));
  const [, halfway, dripping] = clients;
  halfway!.send(head());
  const letters = `${head()}X: ${"x".repeat(100)}`[Symbol.iterator]();
  const drip = setInterval(() => dripping!.send(letters.next().value ?? "x"), 1000);
  try {
    await Promise.all(clients.map((client) => client.untilClosed(15_000)));
    return clients;
  } finally {
    clearInterval(drip);
    for (const client of clients) client[Symbol.dispose]();
  }
}

/** The body's limit is longer than a test should take, and has a test of its own. */
test("there is a limit of time for the headers", async () => {
  const clients = await untimely;
  expect(clients.filter(({ received }) => received.includes(" 200 "))).toEqual([]);
});
