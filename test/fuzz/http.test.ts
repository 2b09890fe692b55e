// Bytes on the HTTP listener: heads and bodies of any kind, also such as different readers would read differently, and those
// who say a little and then nothing.
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { type ErrorCode, errorCodes } from "../../src/protocol/errors.ts";
import { type HttpDaemon, RawClient, startHttp } from "../support/http.ts";
import { fuzzTimeoutMs, holdsForBytes } from "./fuzz.ts";
import { checkHttp } from "./listeners/http.ts";
import { maxLineBytes } from "./listeners/socket.ts";
import { oddLine, oddRequest } from "./odd-json.ts";
import { checkedId, idOf } from "./replies.ts";
import { type Before, before, expectServed, expectUnharmed } from "./unharmed.ts";

const token = "token-of-the-tests";
let daemon: HttpDaemon;
let earlier: Before;
beforeAll(async () => {
  const flags = ["--max-line-bytes", String(maxLineBytes), "--max-sessions", "6"];
  daemon = await startHttp({ flags, env: { TRL_AUTH_TOKEN: token } });
  earlier = await before(daemon);
});
afterAll(() => daemon[Symbol.asyncDispose]());

const mostly = <T>(usual: T, ...others: T[]) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(usual) }, fc.constantFrom(...others));

const target = fc.constantFrom(
  ...[
    "/",
    "/rpc",
    "/ws",
    "/ticket",
    "/metrics",
    "/healthz",
    "/openapi.json",
    "*",
    "",
    "//",
    "/%00",
    "/../../etc/passwd",
  ],
  ...[
    "/rpc/..;/",
    "/%2e%2e/%2e%2e/etc/passwd",
    "http://evil.example/rpc",
    "http://127.0.0.1/rpc",
    "/rpc?ticket=x",
  ],
  ...["/__proto__", "/constructor", "/ws?ticket=%00", `/${"a".repeat(9000)}`, "/rpc#x", "\\rpc", "/r\tpc"],
);
const headers: fc.Arbitrary<string>[] = [
  mostly(
    "Host: 127.0.0.1",
    "Host: evil.example",
    "Host:",
    "Host: 127.0.0.1@evil.example",
    "Host: [::1",
    "Host: a\0b",
    "",
  ),
  mostly(
    `Authorization: Bearer ${token}`,
    "Authorization: Bearer wrong",
    "Authorization: Bearer",
    "authorization: x",
    "",
  ),
  mostly("", "Origin: null", "Origin: http://evil.example", "Origin: http://127.0.0.1", "Origin: \0"),
  mostly(
    "",
    "Transfer-Encoding: chunked",
    "Transfer-Encoding: chunked, identity",
    "Transfer-Encoding : chunked",
  ),
  mostly(
    "",
    "Content-Length: 5",
    "Content-Length: -1",
    "Content-Length: 1e3",
    "Content-Length: 99999999999999999999",
  ),
  mostly(
    "",
    "Expect: 100-continue",
    "Connection: close",
    "Upgrade: websocket",
    "Connection: Upgrade",
    " folded: x",
  ),
  mostly(
    "",
    "Last-Event-ID: x-00000000;0;0",
    "Last-Event-ID: \ud800",
    `X: ${"y".repeat(5000)}`,
    "__proto__: x",
    ": x",
    "no colon",
  ),
  mostly(
    "",
    "Accept: text/event-stream",
    "Accept-Encoding: gzip",
    "Content-Encoding: gzip",
    "Content-Type: \xff",
  ),
];
const head = fc
  .tuple(
    mostly("POST", "GET", "OPTIONS", "PUT", "post", "P\0ST", "CONNECT", "TRACE", ""),
    target,
    mostly("HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/9", "", "HTTP/1.1 x"),
    fc.tuple(...headers),
    mostly("\r\n", "\n", "\r"),
  )
  .map(([method, path, version, list, end]) =>
    [`${method} ${path} ${version}`, ...list.filter((header) => header !== "")].join(end),
  );

const body = fc.oneof(
  { weight: 3, arbitrary: oddRequest.map((text) => Buffer.from(text)) },
  oddLine,
  fc
    .constantFrom(0, maxLineBytes - 1, maxLineBytes, maxLineBytes + 1)
    .map((length) => Buffer.alloc(length, " ")),
  fc
    .constantFrom("0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n", "ffffffffffffffff\r\n", "-1\r\n", "5;x=y\r\nhel")
    .map((text) => Buffer.from(text)),
);

const request = fc.tuple(head, body, fc.boolean()).map(([lines, content, hasLength]) => {
  const length = hasLength ? `\r\nContent-Length: ${content.length}` : "";
  return Buffer.concat([Buffer.from(`${lines}${length}\r\n\r\n`, "latin1"), content]);
});
const pipelined = fc.array(request, { minLength: 1, maxLength: 4 }).map((list) => Buffer.concat(list));
const truncated = fc.tuple(pipelined, fc.nat(400)).map(([bytes, end]) => bytes.subarray(0, end));
const stray = fc.uint8Array({ minLength: 1, maxLength: 60 });

test(
  "requests of any kind are answered with HTTP, and harm nobody",
  async () => {
    const inputs = fc.oneof({ weight: 6, arbitrary: pipelined }, truncated, stray);
    await holdsForBytes("http", inputs, async (input) => void (await checkHttp(daemon, input)));
    await expectUnharmed(daemon, earlier);
  },
  fuzzTimeoutMs,
);

test(
  "whatever stands in a body that is well framed, it has one answer with the status of its code",
  async () => {
    await holdsForBytes("http", body, async (input) => {
      const response = await daemon.post(input);
      const text = (await response.text()).trimEnd();
      expect(checkedId(text)).toBe(input.length > maxLineBytes ? "unknown" : idOf(input));
      const { ok, error } = JSON.parse(text);
      expect(response.status).toBe(ok ? 200 : errorCodes[error.code as ErrorCode].http);
    });
    await expectUnharmed(daemon, earlier);
  },
  fuzzTimeoutMs,
);

test("those who say a little and then nothing keep nobody waiting", async () => {
  const beginnings = [
    "P",
    "POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ",
    `POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nContent-Length: 100\r\n\r\n{`,
    `POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{`,
  ];
  const slow = await Promise.all(Array.from({ length: 120 }, () => RawClient.connect(daemon.port)));
  for (const [i, client] of slow.entries()) client.send(beginnings[i % beginnings.length]!);
  for (let drops = 0; drops < 5; drops++) {
    for (const client of slow) client.send("a");
    await expectServed(daemon);
    expect((await daemon.post({ id: 1, method: "system.ping" })).status).toBe(200);
  }
  for (const client of slow) client[Symbol.dispose]();
  await expectUnharmed(daemon, earlier);
});
