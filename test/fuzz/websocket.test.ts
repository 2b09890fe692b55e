// Frames of any kind: in pieces, with control frames in between, too long, not masked, with bits that mean nothing.
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { type HttpDaemon, startHttp } from "../support/http.ts";
import { fuzzTimeoutMs, holdsForBytes } from "./fuzz.ts";
import { maxLineBytes } from "./listeners/socket.ts";
import { checkWebSocket, frameBytes, meaningOf, opcodes } from "./listeners/websocket.ts";
import { oddLine, oddRequest } from "./odd-json.ts";
import { type Before, before, expectUnharmed } from "./unharmed.ts";

let daemon: HttpDaemon;
let earlier: Before;
beforeAll(async () => {
  daemon = await startHttp({ flags: ["--max-line-bytes", String(maxLineBytes), "--max-sessions", "6"] });
  earlier = await before(daemon);
});
afterAll(() => daemon[Symbol.asyncDispose]());

const plain = fc.constantFrom(
  '{"id":"a","method":"system.ping"}',
  '{"id":"b","method":"system.stats"}',
  "{}",
  "",
);
const content = fc.oneof(
  { weight: 3, arbitrary: plain.map((text) => Buffer.from(text)) },
  oddRequest.map((text) => Buffer.from(text)),
  oddLine,
  fc.uint8Array({ maxLength: 140 }),
  fc
    .constantFrom(maxLineBytes, maxLineBytes + 1, maxLineBytes + 2, 70_000)
    .map((length) => Buffer.alloc(length, "x")),
);
const mask = fc.oneof({ weight: 9, arbitrary: fc.nat(0xffff_ffff) }, fc.constant(undefined));
const rarely = <T>(usual: T, ...others: T[]) =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, fc.constantFrom(...others));

const single = fc
  .record({
    isFinal: rarely(true, false),
    reserved: rarely(0, 1, 4, 7),
    opcode: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(opcodes.text, opcodes.binary) },
      { weight: 2, arbitrary: fc.constantFrom(opcodes.ping, opcodes.pong) },
      fc.nat(15),
    ),
    payload: content,
    mask,
    lengthForm: rarely<"shortest" | 16 | 64>("shortest", 16, 64),
  })
  .map(frameBytes);

/** One message over several frames, with pings in between. */
const fragmented = fc
  .tuple(content, fc.array(fc.nat(40), { maxLength: 5 }), fc.boolean())
  .map(([bytes, cuts, hasPing]) => {
    const edges = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length].sort((a, b) => a - b);
    const pieces = edges.slice(1).map((edge, i) => bytes.subarray(edges[i], edge));
    return Buffer.concat(
      pieces.flatMap((payload, i) => {
        const opcode = i === 0 ? opcodes.text : opcodes.continuation;
        const frame = frameBytes({
          opcode,
          payload,
          isFinal: i === pieces.length - 1,
          mask: 0xa5a5_0000 + i,
        });
        const ping = frameBytes({ opcode: opcodes.ping, payload: Buffer.from("?"), mask: 7 });
        return hasPing ? [frame, ping] : [frame];
      }),
    );
  });

const frames = fc
  .array(fc.oneof({ weight: 3, arbitrary: single }, fragmented), { minLength: 1, maxLength: 6 })
  .map((list) => Buffer.concat(list));
const truncated = fc.tuple(frames, fc.nat(200)).map(([bytes, end]) => bytes.subarray(0, end));
const stray = fc.uint8Array({ minLength: 1, maxLength: 40 });

test(
  "frames of any kind are answered by the rules, and harm nobody",
  async () => {
    const inputs = fc.oneof({ weight: 6, arbitrary: frames }, truncated, stray);
    await holdsForBytes("websocket", inputs, (input) => checkWebSocket(daemon, input));
    await expectUnharmed(daemon, earlier);
  },
  fuzzTimeoutMs,
);

test("the reading of frames that this goes by is right", () => {
  const text = (payload: string, more = {}) =>
    frameBytes({ opcode: opcodes.text, payload: Buffer.from(payload), mask: 99, ...more });
  const rest = frameBytes({ opcode: opcodes.continuation, payload: Buffer.from("b"), mask: 5 });
  const ping = frameBytes({ opcode: opcodes.ping, payload: Buffer.from("p"), mask: 1 });
  const told = (...list: Buffer[]) => {
    const { messages, ...others } = meaningOf(Buffer.concat(list));
    return { messages: messages.map(String), ...others };
  };
  const nothing = { messages: [], pings: 0, isOver: false, isOpen: false };
  expect(told(text("a", { isFinal: false }), ping, rest)).toEqual({ ...nothing, messages: ["ab"], pings: 1 });
  expect(told(text("x".repeat(300)))).toEqual({ ...nothing, messages: ["x".repeat(300)] });
  expect(told(rest)).toEqual({ ...nothing, isOver: true });
  expect(told(text("a"), text("b", { mask: undefined }))).toEqual({
    ...nothing,
    messages: ["a"],
    isOver: true,
  });
  expect(told(text("abc").subarray(0, 6))).toEqual({ ...nothing, isOpen: true });
});
