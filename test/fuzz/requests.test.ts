// Whatever is sent, each line gets one well-formed answer and the daemon lives on. Each run has a seed of its own:
// a failure names it, and TRL_FUZZ_SEED=<it> TRL_FUZZ_RUNS=1 repeats that run alone.

import { afterAll, beforeAll, expect, test } from "bun:test";
import * as v from "valibot";
import { type MethodName, methods } from "../../src/protocol/methods.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { isAlive } from "../support/processes.ts";
import { Random } from "../support/random.ts";
import { until } from "../support/wait.ts";
import type { Wire } from "../support/wire.ts";
import { checkedId, expectedIds, isReply } from "./replies.ts";

const firstSeed = Number(process.env["TRL_FUZZ_SEED"] ?? 20_260_101);
const runs = Number(process.env["TRL_FUZZ_RUNS"] ?? 250);
const linesPerRun = 30;
const maxLineBytes = 16 * 1024;
/** What a socket takes at once, with room to spare: the half-close comes right behind it. */
const runBytesMax = 96 * 1024;
const chunksMax = 60;

const methodNames = Object.keys(methods) as MethodName[];
const fieldsOf = (method: MethodName) => Object.entries<v.GenericSchema>(methods[method].params.entries);

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startDaemon({ flags: ["--max-line-bytes", String(maxLineBytes), "--max-sessions", "6"] });
});
afterAll(() => daemon[Symbol.asyncDispose]());

test("every field of every method refuses the wrong type, and says which", async () => {
  using wire = await daemon.connect();
  const expected = new Map<string, string>();
  for (const method of methodNames) {
    for (const [field, schema] of fieldsOf(method)) {
      for (const value of wrongValues.filter((text) => !v.is(schema, JSON.parse(text)))) {
        const id = `${method} ${field} ${value}`;
        expected.set(id, field);
        const others = fieldsOf(method).filter(([name]) => name !== field && name in fittingParams);
        const rest = others.map(([name]) => `"${name}":${JSON.stringify(fittingParams[name])},`).join("");
        wire.send(
          `{"id":${JSON.stringify(id)},"method":"${method}","params":{${rest}"${field}":${value}}}\n`,
        );
      }
    }
  }
  expect(expected.size).toBeGreaterThan(100);
  for (const [id, field] of expected) {
    const { error } = await wire.frame((frame) => frame["id"] === id);
    expect([id, error?.code]).toEqual([id, "INVALID_PARAMS"]);
    expect(error.message).toStartWith(field);
  }
  expect(wire.frames.length).toBe(expected.size);
  await expectHealthy();
});

test(
  `${runs} runs of nonsense are answered, line by line`,
  async () => {
    for (let run = 0; run < runs; run++) await runOnce(firstSeed + run);
    await expectHealthy();
  },
  60_000 + runs * 1000,
);

test("nesting of any depth is answered", async () => {
  await using roomy = await startDaemon(); // with the default limit on lines
  for (const depth of [100, 10_000, 1_000_000]) {
    for (const [open, inner, close] of [
      ["[", "", "]"],
      ['{"a":', "1", "}"],
    ] as const) {
      using wire = await roomy.connect();
      const nested = open.repeat(depth) + inner + close.repeat(depth);
      wire.send(`{"id":"inside","method":"system.ping","params":{"x":${nested}}}\n`);
      wire.send(
        `{"id":"as params","method":"session.create","params":${nested.replace("a", "isolation")}}\n`,
      );
      wire.send(`${nested}\n${open.repeat(depth)}\n`);
      await until("four replies", () => wire.rawLines.length >= 4);
      wire.endInput();
      await wire.untilClosed();
      const ids = wire.rawLines.map(checkedId);
      expect(ids.sort()).toEqual(["as params", "inside", "unknown", "unknown"]);
    }
  }
  expect(roomy.log()).not.toContain("internal error");
});

async function runOnce(seed: number): Promise<void> {
  const random = new Random(seed);
  using control = await daemon.connect();
  const { session_id } = await control.call("session.create", { timeout_s: 5 });
  const input = randomInput(random, session_id);
  try {
    using wire = await daemon.connect();
    for (const chunk of randomChunks(random, input)) {
      wire.send(chunk);
      if (random.chance(0.3)) await nextTurn(); // so that the daemon sees the chunk by itself
    }
    wire.endInput();
    await Promise.all([wire.untilClosed(), endWhatRuns(control, wire)]);
    expect(wire.rawLines.filter(isReply).map(checkedId).sort()).toEqual(
      expectedIds(input, maxLineBytes).sort(),
    );
  } catch (error) {
    const repeat = `TRL_FUZZ_SEED=${seed} TRL_FUZZ_RUNS=1 bun test test/fuzz`;
    const input64 = Buffer.from(input).toString("base64");
    throw new Error(`${(error as Error).message}\nrepeat with: ${repeat}\ninput: ${input64}`, {
      cause: error,
    });
  }
  const { sessions } = await control.call("session.list", {});
  const end = ({ session_id }: { session_id: string }) =>
    control.request("session.destroy", { session_id, force: true });
  await Promise.all(sessions.map(end));
}

/** What the connection watches holds it for as long as it runs, which may be for ever. */
async function endWhatRuns(control: Wire, wire: Wire): Promise<void> {
  const patience = performance.now() + 1000;
  for (; !wire.isClosed; await Bun.sleep(5)) {
    const { sessions } = await control.call("pty.list", {});
    const live = sessions.filter(({ state }) => state === "running");
    await Promise.all(live.map(({ session_id }) => control.request("pty.close", { session_id })));
    if (performance.now() < patience) continue;
    const { streams } = await control.call("exec.list", {});
    const running = streams.filter(({ state }) => state === "running");
    await Promise.all(running.map(({ stream_id }) => control.request("exec.cancel", { stream_id })));
  }
}

async function expectHealthy(): Promise<void> {
  using wire = await daemon.connect();
  expect(await wire.call("system.ping", {})).toHaveProperty("version");
  expect((await wire.call("session.list", {})).sessions).toEqual([]);
  expect(isAlive(daemon.pid)).toBeTrue();
  expect(daemon.log()).not.toContain("internal error");
}

// --- What is sent ---

const wrongValues = [
  "true",
  "0",
  "-1",
  "1.5",
  "-1e400",
  '"text"',
  '"nul \\u0000"',
  "[]",
  "[1]",
  "{}",
  '{"a":1}',
  '{"":"x"}',
  '{"a":[]}',
];

/** Values that any field may get: right for some, wrong for others. Never text: see `textsOf`. */
const anyValues = [
  "null",
  "true",
  "false",
  "0",
  "-0",
  "-1",
  "1.5",
  "1e-7",
  "1e400",
  "123456789012345678901234567890",
  "[]",
  "{}",
  '["x"]',
  '{"a":"x","b":null}',
  '{"__proto__":{"a":1}}',
  '{"__proto__":"x","constructor":"x","toString":"x"}',
  '{"\\ud800":"\\udfff"}',
  '{"name with spaces":"x","É":"é"}',
];

const anyMethods = ["system.ping", "x", "", "toString", "constructor", "__proto__", "\ud800"]
  .map((name) => JSON.stringify(name))
  .concat(anyValues);

const oddTexts = [
  "",
  "x",
  "\0",
  "\ud800",
  "é😀",
  "__proto__",
  "-",
  "/",
  "A=B",
  "'\"`$(){}",
  "line\nline",
  "long".repeat(500),
];

/** What runs must be known to be harmless; everything else may be any text. */
function textsOf(field: string, sessionId: string): string[] {
  const known: Record<string, string[]> = {
    command: [
      "true",
      "echo hi",
      "exit 7",
      "printf x >&2; false",
      "cat",
      "cd /",
      "export A=1",
      "sleep 0.02 &",
      "\0",
    ],
    init: ["true", "echo hi", "exit 3", "\0"],
    shell: ["bash", "sh", "/bin/sh", "/nonexistent/shell", "/etc/passwd", "/", "", "\0"],
    session_id: [sessionId, sessionId, sessionId, "s-00000000", "", "\0", "__proto__"],
    working_dir: ["/tmp", "/", "~", "/nonexistent", "relative", ...oddTexts],
    encoding: ["utf8", "base64", "latin1"],
    inherit_env: ["all", "safe", "none", "some"],
    runtime: ["host", "moon"],
    kind: ["socket", "http", "moon"],
    path: ["/nonexistent/trl.sock", "/", ...oddTexts],
  };
  return known[field] ?? oddTexts;
}

const harmlessParams: Record<string, string> = {
  session_id: "s-00000000",
  stream_id: "x-00000000",
  command: "true",
};

/** For every field that some method requires. */
const fittingParams: Record<string, unknown> = {
  executable: "/nowhere/trl",
  ...harmlessParams,
  data: "x",
  cols: 80,
  rows: 24,
  until: { exit: true },
  name: "moon",
  kind: "socket",
};

/** Requests to be damaged: whatever becomes of them, none can run a command in a session that exists. */
const templates = [
  '{"id":"1","method":"system.ping"}',
  '{"id":12345678901234567890,"method":"system.stats","params":null}',
  '{"id":"a","method":"session.create","params":{"name":"x","timeout_s":5,"env":{"A":"1"},"inherit_env":"safe"}}',
  '{"id":3,"method":"session.info","params":{"session_id":"s-00000000"}}',
  '{"id":"\\u00e9","method":"session.destroy","params":{"session_id":"s-00000000","force":true}}',
  '{"id":5.5,"method":"exec.run","params":{"session_id":"s-00000000","command":"true","timeout_s":1e3}}',
  '{"id":"6","method":"session.list","params":{"__proto__":{"x":1}}}',
];

type LineMaker = (random: Random, sessionId: string) => string | Uint8Array;

const lineMakers: [weight: number, make: LineMaker][] = [
  [6, randomRequest],
  [6, (random) => damaged(random, Buffer.from(random.pick(templates)))],
  [2, (random) => random.bytes(random.below(200))],
  [1, (random) => random.pick(templates).slice(0, random.below(80))],
  [1, (random) => random.pick(["", " ", "\t \r", "\r", "null", "[]", "{}", "0", '""', "\ufeff{}", "\u2028"])],
  [1, (random) => `{"id":${random.pick(['"m"', ...anyValues])},"method":${random.pick(anyMethods)}}`],
  [1, (random) => `${random.pick(["[", '{"a":', "{"])}`.repeat(random.below(3000))],
  [0.3, (random) => "x".repeat(maxLineBytes - 2 + random.below(5)) + random.pick(["", "\r"])],
  [0.3, (random) => random.bytes(maxLineBytes + random.below(maxLineBytes))],
];

/** Well-formed; half of the time also with values that the table takes, so that handlers and shells see them. */
function randomRequest(random: Random, sessionId: string): string {
  const method = random.pick(methodNames);
  const isPlausible = random.chance(0.5);
  const members = fieldsOf(method)
    .filter(([field]) => field in harmlessParams || random.chance(0.2))
    .map(([field, schema]) => {
      const values = [...textsOf(field, sessionId).map((text) => JSON.stringify(text)), ...anyValues];
      const taken = values.filter((value) => !isPlausible || v.is(schema, JSON.parse(value)));
      return `"${field}":${random.pick(taken)}`;
    });
  if (random.chance(0.1)) members.push(`"__proto__":${random.pick(anyValues)}`);
  if (random.chance(0.1)) members.reverse();
  const id = random.pick(['"r"', "7", "-3", "12345678901234567890", "1e400", '"\\ud800"', '""']);
  return `{"id":${id},"method":"${method}","params":{${members.join(",")}}}`;
}

function damaged(random: Random, line: Buffer): Uint8Array {
  let bytes = [...line];
  for (let hits = 1 + random.below(3); hits > 0; hits--) {
    const at = random.below(bytes.length + 1);
    const some = bytes.slice(at, at + random.below(12));
    const damage = random.below(4);
    if (damage === 0) bytes.splice(at, 1, random.below(256));
    else if (damage === 1) bytes.splice(at, some.length);
    else if (damage === 2) bytes.splice(at, 0, ...some);
    else bytes = bytes.slice(0, Math.max(1, at));
  }
  return Uint8Array.from(bytes);
}

function randomInput(random: Random, sessionId: string): Uint8Array {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (let i = 0; i < linesPerRun && size < runBytesMax - 3 * maxLineBytes; i++) {
    const make = random.weighted(lineMakers);
    const isLast = i === linesPerRun - 1;
    const end = isLast && random.chance(0.5) ? "" : random.pick(["\n", "\n", "\n", "\r\n", "\n\n"]);
    const piece = Buffer.concat([Buffer.from(make(random, sessionId)), Buffer.from(end)]);
    size += piece.length;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Few enough that the socket takes them all: to it, even a chunk of one byte is some hundred. */
function randomChunks(random: Random, input: Uint8Array): Uint8Array[] {
  const longest = random.pick([7, 100, 5000, input.length + 1]);
  const chunks: Uint8Array[] = [];
  let at = random.below(input.length);
  if (at > 0) chunks.push(input.subarray(0, at));
  while (at < input.length && chunks.length < chunksMax) {
    const chunk = input.subarray(at, at + 1 + random.below(longest));
    chunks.push(chunk);
    at += chunk.length;
  }
  return [...chunks, input.subarray(at)];
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
