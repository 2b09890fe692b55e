// Each line is a POST with a connection of its own, by hand: Bun's client reads a body whether it is wanted or not.
import { ByteSocket } from "./byte-socket.ts";
import { type Carrier, type CarrierEvents, LineSplitter } from "./carrier.ts";
import type { HttpAddress } from "./websocket.ts";

export function openHttp(address: HttpAddress, events: CarrierEvents): Carrier {
  const open = new Set<ByteSocket>();
  let isPaused = false;
  let isOver = false;
  // A flood on one connection is not to keep this process from the answers on the others.
  const takeTurns = (socket: ByteSocket) => {
    socket.pause();
    setImmediate(() => {
      if (!isPaused && open.has(socket)) socket.resume();
    });
  };
  const post = async (body: Uint8Array) => {
    const response = new ResponseReader(events);
    const socket: ByteSocket = await ByteSocket.open(address, {
      data(chunk) {
        response.push(chunk);
        if (!response.isComplete) return takeTurns(socket);
        open.delete(socket);
        socket.terminate();
      },
      closed() {
        if (!open.delete(socket) || response.isComplete || isOver) return;
        events.closed(); // an answer that breaks off
      },
    });
    open.add(socket);
    if (isOver) return socket.terminate();
    if (isPaused) socket.pause();
    socket.send(Buffer.concat([Buffer.from(requestHead(address, body.length)), body]));
  };
  return {
    send(bytes) {
      if (bytes.indexOf(10) !== bytes.length - 1) throw new Error("HTTP takes one request at a time");
      post(bytes.subarray(0, -1)).catch(() => events.closed());
    },
    endInput() {
      throw new Error("over HTTP each request is the end of its input");
    },
    pause() {
      isPaused = true;
      for (const socket of open) socket.pause();
    },
    resume() {
      isPaused = false;
      for (const socket of open) socket.resume();
    },
    terminate() {
      isOver = true;
      for (const socket of open) socket.terminate();
    },
  };
}

const requestHead = ({ hostname, port, token }: HttpAddress, bytes: number) =>
  [
    "POST /rpc HTTP/1.1",
    `Host: ${hostname}:${port}`,
    `Authorization: Bearer ${token}`,
    "Content-Type: application/json",
    `Content-Length: ${bytes}`,
    "\r\n",
  ].join("\r\n");

/** One response: its body as lines, whether it comes at once or in chunks. */
class ResponseReader {
  isComplete = false;
  #status = 0;
  #isChunked = false;
  #isHeadRead = false;
  /** Of the body or of the chunk that has begun. */
  #left = 0;
  #head = Buffer.alloc(0);
  readonly #lines = new LineSplitter();

  constructor(readonly events: CarrierEvents) {}

  push(chunk: Uint8Array): void {
    let rest: Uint8Array | undefined = chunk;
    while (rest && rest.length > 0 && !this.isComplete) {
      if (this.#left > 0) rest = this.#body(rest);
      else rest = this.#headLines(rest);
    }
  }

  #body(chunk: Uint8Array): Uint8Array {
    const piece = chunk.subarray(0, this.#left);
    this.#left -= piece.length;
    for (const line of this.#lines.push(piece)) this.#line(line);
    if (this.#left === 0 && !this.#isChunked) this.#complete();
    return chunk.subarray(piece.length);
  }

  /** The headers, or the size of the next chunk; undefined where it is not whole yet. */
  #headLines(chunk: Uint8Array): Uint8Array | undefined {
    this.#head = Buffer.concat([this.#head, chunk]);
    const mark = this.#isHeadRead ? "\r\n" : "\r\n\r\n";
    // A chunk ends with a newline of its own, which comes before the next size.
    const skipped = this.#isHeadRead && this.#head.indexOf("\r\n") === 0 ? 2 : 0;
    const end = this.#head.indexOf(mark, skipped);
    if (end === -1) return undefined;
    const text = this.#head.toString("latin1", skipped, end);
    const rest = this.#head.subarray(end + mark.length);
    this.#head = Buffer.alloc(0);
    if (this.#isHeadRead) this.#left = Number.parseInt(text, 16);
    else this.#headers(text);
    if (this.#left === 0 && (this.#isHeadRead || !this.#isChunked)) this.#complete();
    this.#isHeadRead = true;
    return rest;
  }

  #headers(text: string): void {
    this.#status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)![1]);
    this.#isChunked = /^transfer-encoding: chunked$/im.test(text);
    this.#left = Number(/^content-length: (\d+)$/im.exec(text)?.[1] ?? 0);
  }

  #complete(): void {
    this.isComplete = true;
    const last = this.#lines.rest();
    if (last !== "") this.#line(last);
  }

  #line(line: string): void {
    const isError = /^\{"id":(?:"[^"]*"|[^,]*),"ok":false/.test(line);
    if (isError !== this.#status >= 400) throw new Error(`status ${this.#status} with ${line.slice(0, 200)}`);
    this.events.line(line);
  }
}
