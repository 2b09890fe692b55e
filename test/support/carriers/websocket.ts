// A WebSocket by hand: Bun's client cannot be told to stop reading.
import { ByteSocket } from "./byte-socket.ts";
import type { Carrier, CarrierEvents } from "./carrier.ts";

export interface HttpAddress {
  hostname: string;
  port: number;
  token: string;
}

const opcodes = { text: 1, close: 8, ping: 9, pong: 10 };

export async function openWebSocket(address: HttpAddress, events: CarrierEvents): Promise<Carrier> {
  const upgraded = Promise.withResolvers<void>();
  let input = Buffer.alloc(0);
  let isUpgraded = false;
  const take = () => {
    if (!isUpgraded) {
      const end = input.indexOf("\r\n\r\n");
      if (end === -1) return;
      const head = input.toString("latin1", 0, end);
      input = input.subarray(end + 4);
      if (!head.startsWith("HTTP/1.1 101")) return upgraded.reject(new Error(head));
      isUpgraded = true;
      upgraded.resolve();
    }
    for (let frame = firstFrame(input); frame; frame = firstFrame(input)) {
      input = input.subarray(frame.bytes);
      if (frame.opcode === opcodes.text) events.line(frame.payload.toString());
      else if (frame.opcode === opcodes.ping) socket.send(clientFrame(opcodes.pong, frame.payload));
      else if (frame.opcode === opcodes.close) socket.endInput();
      else throw new Error(`an unexpected WebSocket frame: ${frame.opcode}`);
    }
  };
  const parts: Buffer[] = [];
  let held = 0;
  const socket = await ByteSocket.open(address, {
    data(chunk) {
      parts.push(Buffer.from(chunk));
      held += chunk.length;
      // A large frame comes in many chunks; they are joined once.
      if (isUpgraded && input.length >= 10 && input.length + held < boundsOf(input).end) return;
      input = Buffer.concat([input, ...parts.splice(0)]);
      held = 0;
      take();
    },
    closed() {
      upgraded.reject(new Error("closed before the upgrade"));
      events.closed();
    },
  });
  socket.send(Buffer.from(upgradeRequest(address)));
  await upgraded.promise;
  return {
    send: (bytes) =>
      socket.send(clientFrame(opcodes.text, bytes.at(-1) === 10 ? bytes.subarray(0, -1) : bytes)),
    endInput: () => socket.send(clientFrame(opcodes.close, new Uint8Array(0))),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    terminate: () => socket.terminate(),
  };
}

const upgradeRequest = ({ hostname, port, token }: HttpAddress) =>
  [
    "GET /ws HTTP/1.1",
    `Host: ${hostname}:${port}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Key: ${Buffer.from("0123456789abcdef").toString("base64")}`,
    `Authorization: Bearer ${token}`,
    "\r\n",
  ].join("\r\n");

/** A client masks what it sends; with zeros it stays as it is. */
function clientFrame(opcode: number, payload: Uint8Array): Uint8Array {
  const head = Buffer.alloc(14);
  head[0] = 0x80 | opcode;
  head[1] = 0x80 | 127;
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}

function firstFrame(input: Buffer): { opcode: number; payload: Buffer; bytes: number } | undefined {
  const { start, end } = boundsOf(input);
  if (input.length < end) return undefined;
  if ((input[0]! & 0x80) === 0) throw new Error("a frame in pieces");
  return { opcode: input[0]! & 0x0f, payload: input.subarray(start, end), bytes: end };
}

function boundsOf(input: Buffer): { start: number; end: number } {
  if (input.length < 2) return { start: 2, end: 2 };
  const short = input[1]! & 0x7f;
  const start = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (short < 126) return { start, end: start + short };
  if (input.length < start) return { start, end: start };
  return { start, end: start + (short === 126 ? input.readUInt16BE(2) : Number(input.readBigUInt64BE(2))) };
}
