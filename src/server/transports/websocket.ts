// The WebSocket transport: each message holds one frame, or several lines of them, in both dialects. The HTTP listener
// accepts, drains and closes the sockets.
import { collectGarbage } from "../../platform/garbage.ts";
import type { Connection } from "../connection.ts";
import { pipeBytesMax } from "../limits.ts";
import type { Server } from "../server.ts";
import type { Listener } from "./listener.ts";
import type { TransportStream } from "./transport-stream.ts";

export interface SocketData {
  connection: Connection | undefined;
  /** Bytes received while reading is paused; undefined while it is not. */
  pausedBytes?: number | undefined;
}

type Socket = Bun.ServerWebSocket<SocketData>;

const newline = Buffer.from("\n");
/** Close codes: RFC 6455, and the registry of IANA. */
const policyViolation = 1008;
const serviceRestart = 1012;

export class WebSockets implements Pick<Listener, "isSending" | "stopStreaming" | "closeConnections"> {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(server: Server) {
    this.#server = server;
  }

  get isSending(): boolean {
    return this.#connections.some(({ isSending }) => isSending);
  }

  get isBusy(): boolean {
    return this.#connections.some(({ isBusy }) => isBusy);
  }

  stopStreaming(): void {
    for (const connection of this.#connections) connection.stopStreaming();
  }

  /** The close code asks clients to reconnect. */
  closeConnections(): void {
    for (const socket of this.#sockets) socket.close(serviceRestart);
  }

  handler(): Bun.WebSocketHandler<SocketData> {
    const { maxLineBytes } = this.#server;
    return {
      maxPayloadLength: maxLineBytes + 1,
      backpressureLimit: pipeBytesMax * 16, // above the limit of `streamOf`, which applies first
      idleTimeout: 120,
      sendPings: true,
      perMessageDeflate: false,
      open: (socket) => this.#open(socket),
      message(socket, message) {
        const bytes = typeof message === "string" ? Buffer.from(message) : message;
        if (isTooMuch(socket, bytes.length, maxLineBytes)) return socket.close(policyViolation, "too much");
        const hasNewline = bytes.at(-1) === newline[0];
        socket.data.connection?.receive(hasNewline ? bytes : Buffer.concat([bytes, newline]));
      },
      drain: (socket) => socket.data.connection?.writable(),
      close: (socket) => {
        if (this.#sockets.delete(socket)) this.#server.disconnect(socket.data.connection!);
      },
    };
  }

  get #connections(): Connection[] {
    return [...this.#sockets].flatMap(({ data }) => data.connection ?? []);
  }

  #open(socket: Socket): void {
    this.#sockets.add(socket);
    socket.data.connection = this.#server.connect(streamOf(socket));
    socket.data.connection.trust();
  }
}

/** A message cannot be written in part: it is accepted whole, or offered again later. */
const streamOf = (socket: Socket): TransportStream => ({
  write(frame) {
    if (socket.getBufferedAmount() > pipeBytesMax) return 0;
    const { buffer, byteOffset, length } = frame;
    const text = Buffer.from(buffer, byteOffset, length - 1).toString();
    socket.sendText(text);
    collectGarbage(4 * text.length); // the text, with two bytes a character if not ASCII, and the socket's copy
    return length;
  },
  senderWaits: false,
  pauseReading() {
    socket.data.pausedBytes = 0;
  },
  resumeReading() {
    socket.data.pausedBytes = undefined;
  },
  close: () => socket.close(),
});

/** Reading from a WebSocket cannot be paused: a client that goes on sending without reading is disconnected. */
function isTooMuch({ data }: Socket, bytes: number, max: number): boolean {
  if (data.pausedBytes === undefined) return false;
  data.pausedBytes += bytes;
  return data.pausedBytes > max;
}
