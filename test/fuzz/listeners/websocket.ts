// Bytes on a WebSocket, after the upgrade. What they mean is read here by RFC 6455, and the daemon must agree: messages
// are answered, pings too, and what is against the rules ends the connection.
import { expect } from "bun:test";
import { isUtf8 } from "node:buffer";
import { type HttpDaemon, RawClient } from "../../support/http.ts";
import { until } from "../../support/wait.ts";
import { checkedId, expectedIds, isReply } from "../replies.ts";
import { expectServed } from "../unharmed.ts";
import { maxLineBytes } from "./socket.ts";

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 };

export interface FrameSpec {
  isFinal?: boolean;
  reserved?: number;
  opcode: number;
  payload: Uint8Array;
  /** Undefined: not masked, which a client must not do. */
  mask?: number | undefined;
  /** How the length is written; by the rules it is the shortest way. */
  lengthForm?: "shortest" | 16 | 64;
}

export function frameBytes({
  isFinal = true,
  reserved = 0,
  opcode,
  payload,
  mask,
  lengthForm,
}: FrameSpec): Buffer {
  const { length } = payload;
  const shortest = length < 126 ? 7 : length < 65_536 ? 16 : 64;
  const form =
    lengthForm === undefined || lengthForm === "shortest" ? shortest : Math.max(lengthForm, shortest);
  const head = Buffer.alloc(form === 7 ? 2 : form === 16 ? 4 : 10);
  head[0] = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode;
  head[1] = (mask === undefined ? 0 : 0x80) | (form === 7 ? length : form === 16 ? 126 : 127);
  if (form === 16) head.writeUInt16BE(length, 2);
  if (form === 64) head.writeBigUInt64BE(BigInt(length), 2);
  if (mask === undefined) return Buffer.concat([head, payload]);
  const key = Buffer.alloc(4);
  key.writeUInt32BE(mask);
  return Buffer.concat([head, key, Buffer.from(payload.map((byte, i) => byte ^ key[i % 4]!))]);
}

interface Meaning {
  messages: Buffer[];
  pings: number;
  /** Whether the connection must end: somebody said so, or broke the rules. */
  isOver: boolean;
  /** A frame has begun and is not whole. */
  isOpen: boolean;
}

interface ParsedFrame {
  isFinal: boolean;
  opcode: number;
  payload: Buffer;
  isWrong: boolean;
  bytes: number;
}

export function meaningOf(input: Buffer): Meaning {
  const meaning: Meaning = { messages: [], pings: 0, isOver: false, isOpen: false };
  let parts: Buffer[] | undefined;
  let isText = false;
  for (let at = 0; at < input.length; ) {
    const frame = parseFrame(input.subarray(at));
    if (!frame) return { ...meaning, isOpen: true };
    const { opcode, isFinal, payload } = frame;
    at += frame.bytes;
    const isControl = opcode >= 8;
    const isOutOfPlace = !isControl && (opcode === 0) !== (parts !== undefined);
    const isUnknown = (opcode > 2 && opcode < 8) || opcode > 10;
    if (frame.isWrong || isOutOfPlace || isUnknown || opcode === opcodes.close)
      return { ...meaning, isOver: true };
    if (opcode === opcodes.ping) meaning.pings++;
    if (isControl) continue;
    isText = parts === undefined ? opcode === opcodes.text : isText;
    parts = [...(parts ?? []), payload];
    if (sizeOf(parts) > maxLineBytes + 1) return { ...meaning, isOver: true };
    if (!isFinal) continue;
    const message = Buffer.concat(parts);
    if (isText && !isUtf8(message)) return { ...meaning, isOver: true };
    meaning.messages.push(message);
    parts = undefined;
  }
  return meaning;
}

const sizeOf = (parts: Buffer[]) => parts.reduce((sum, { length }) => sum + length, 0);

function parseFrame(input: Buffer): ParsedFrame | undefined {
  if (input.length < 2) return undefined;
  const [first, second] = [input[0]!, input[1]!];
  const isMasked = (second & 0x80) !== 0;
  const short = second & 0x7f;
  const at = short < 126 ? 2 : short === 126 ? 4 : 10;
  const opcode = first & 0x0f;
  const isWrong = !isMasked || (first & 0x70) !== 0 || (opcode >= 8 && (short > 125 || (first & 0x80) === 0));
  if (isWrong) return { isFinal: true, opcode, payload: Buffer.alloc(0), isWrong, bytes: input.length };
  if (input.length < at + 4) return undefined;
  const length =
    short < 126 ? short : short === 126 ? input.readUInt16BE(2) : Number(input.readBigUInt64BE(2));
  if (length > maxLineBytes + 1)
    return { isFinal: true, opcode, payload: Buffer.alloc(0), isWrong: true, bytes: input.length };
  const end = at + 4 + length;
  if (input.length < end) return undefined;
  const key = input.subarray(at, at + 4);
  const payload = Buffer.from(input.subarray(at + 4, end).map((byte, i) => byte ^ key[i % 4]!));
  return { isFinal: (first & 0x80) !== 0, opcode, payload, isWrong: false, bytes: end };
}

export async function checkWebSocket(daemon: HttpDaemon, input: Uint8Array): Promise<void> {
  const last = frameBytes({ opcode: opcodes.text, payload: Buffer.from(lastRequest), mask: 0x01020304 });
  const all = Buffer.concat([input, last]);
  const meaning = meaningOf(all);
  using client = await RawClient.connect(daemon.port);
  client.send(upgradeRequest(daemon));
  await until("the upgrade", () => client.received.includes("\r\n\r\n"));
  expect(client.received).toStartWith("HTTP/1.1 101 ");
  client.send(all);
  await expectServed(daemon);
  const heard = () =>
    heardFrames(Buffer.from(client.received.split("\r\n\r\n").slice(1).join("\r\n\r\n"), "latin1"));
  const lines = () => heard().flatMap(({ opcode, text }) => (opcode === opcodes.text ? [text] : []));
  const replies = () => lines().filter(isReply);
  if (!meaning.isOver && !meaning.isOpen)
    await until("the last answer", () => replies().some(isLast) || client.isClosed);
  const ids = replies().map(checkedId);
  const expected = meaning.messages.flatMap((message) => expectedIds(message, maxLineBytes));
  // Who breaks the rules may be closed before the answers to what came before.
  const surplus = without(ids, expected);
  expect(surplus).toEqual([]);
  if (meaning.isOver || meaning.isOpen) return;
  await until(
    "all answers",
    () => without(expected, replies().map(checkedId)).length === 0 || client.isClosed,
  );
  expect(without(expected, replies().map(checkedId))).toEqual([]);
  await until(
    "all pongs",
    () => heard().filter(({ opcode }) => opcode === opcodes.pong).length === meaning.pings,
  );
}

const lastRequest = '{"id":"the last","method":"system.ping"}';
const isLast = (line: string) => line.startsWith('{"id":"the last"');

function without(things: string[], others: string[]): string[] {
  const left = [...others];
  return things.filter((thing) => {
    const at = left.indexOf(thing);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}

function heardFrames(input: Buffer): { opcode: number; text: string }[] {
  const frames: { opcode: number; text: string }[] = [];
  for (let at = 0; at + 2 <= input.length; ) {
    const short = input[at + 1]! & 0x7f;
    const start = at + (short < 126 ? 2 : short === 126 ? 4 : 10);
    if (start > input.length) break;
    const length =
      short < 126
        ? short
        : short === 126
          ? input.readUInt16BE(at + 2)
          : Number(input.readBigUInt64BE(at + 2));
    if (start + length > input.length) break;
    frames.push({ opcode: input[at]! & 0x0f, text: input.toString("utf8", start, start + length) });
    at = start + length;
  }
  return frames;
}

const upgradeRequest = ({ port, token }: HttpDaemon) =>
  [
    "GET /ws HTTP/1.1",
    `Host: 127.0.0.1:${port}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Key: ${Buffer.from("0123456789abcdef").toString("base64")}`,
    `Authorization: Bearer ${token}`,
    "\r\n",
  ].join("\r\n");
