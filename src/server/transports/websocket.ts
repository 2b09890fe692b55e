// WebSocket: each message holds a frame, or several lines of them; both dialects, as on the socket.
import { collectGarbage } from "../../core/process/garbage.ts";
import { Connection } from "../connection.ts";
import type { ServerCounters } from "../counters.ts";
import type { Dispatcher } from "../dispatch.ts";
import { pipeBytesMax } from "../limits.ts";

export interface SocketData {
  connection: Connection | undefined;
  /** What came while it was asked to wait; undefined while it is not. */
  waitingBytes?: number | undefined;
}

const newline = Buffer.from("\n");
const policyViolation = 1008;

export function webSocketHandler(context: {
  dispatcher: Dispatcher;
  counters: ServerCounters;
  maxLineBytes: number;
  sockets: Set<Bun.ServerWebSocket<SocketData>>;
}): Bun.WebSocketHandler<SocketData> {
  const { dispatcher, counters, maxLineBytes, sockets } = context;
  return {
    maxPayloadLength: maxLineBytes + 1,
    backpressureLimit: pipeBytesMax * 16, // our own comes first
    idleTimeout: 120,
    sendPings: true,
    perMessageDeflate: false,
    open(socket) {
      counters.connections++;
      counters.connectionsTotal++;
      sockets.add(socket);
      const connection = new Connection(wireOf(socket), dispatcher, counters, maxLineBytes);
      connection.trust();
      socket.data.connection = connection;
    },
    message(socket, message) {
      const bytes = typeof message === "string" ? Buffer.from(message) : message;
      if (isTooMuch(socket, bytes.length, maxLineBytes)) return socket.close(policyViolation, "too much");
      socket.data.connection?.receive(bytes.at(-1) === newline[0] ? bytes : Buffer.concat([bytes, newline]));
    },
    drain: (socket) => socket.data.connection?.writable(),
    close(socket) {
      if (!sockets.delete(socket)) return;
      counters.connections--;
      socket.data.connection?.closed();
    },
  };
}

/** A message cannot be taken in part: it is taken, or offered again when there is room. */
const wireOf = (socket: Bun.ServerWebSocket<SocketData>) => ({
  write(frame: Uint8Array): number {
    if (socket.getBufferedAmount() > pipeBytesMax) return 0;
    const { buffer, byteOffset, length } = frame;
    const text = Buffer.from(buffer, byteOffset, length - 1).toString();
    socket.sendText(text);
    collectGarbage(4 * text.length); // its text, twice as long where it is not ASCII, and what the socket keeps of it
    return length;
  },
  senderWaits: false,
  pauseReading() {
    socket.data.waitingBytes = 0;
  },
  resumeReading() {
    socket.data.waitingBytes = undefined;
  },
  close: () => socket.close(),
});

/** A WebSocket cannot be told to wait: who asks on and on and does not read the answers is let go. */
function isTooMuch({ data }: Bun.ServerWebSocket<SocketData>, bytes: number, max: number): boolean {
  if (data.waitingBytes === undefined) return false;
  data.waitingBytes += bytes;
  return data.waitingBytes > max;
}
