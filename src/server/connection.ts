// One client, whatever carries its bytes: lines in, replies out, in bounded memory.
import { encodeFrame, type Line, LineDecoder } from "../protocol/frame.ts";
import type { ServerCounters } from "./counters.ts";
import type { Dispatcher } from "./dispatch.ts";
import { pendingRequestsMax, queuedBytesMax } from "./limits.ts";

/** What a transport gives. `write` takes what fits now and says how much; the rest is offered again later. */
export interface Wire {
  write(bytes: Uint8Array): number;
  pauseReading(): void;
  resumeReading(): void;
  close(): void;
}

export class Connection {
  readonly #decoder: LineDecoder;
  #unread: Uint8Array[] = [];
  #lines: Generator<Line> | undefined;
  #isDecoded = false;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #pending = 0;
  #inputEnded = false;
  #isClosed = false;
  #isPaused = false;

  constructor(
    readonly wire: Wire,
    readonly dispatcher: Dispatcher,
    readonly counters: ServerCounters,
    maxLineBytes: number,
  ) {
    this.#decoder = new LineDecoder(maxLineBytes);
  }

  /** Whether a request is being answered or an answer is on its way. */
  get isBusy(): boolean {
    return this.#pending > 0 || this.#queue.length > 0 || this.#unread.length > 0;
  }

  /** Bytes from the client. */
  receive(chunk: Uint8Array): void {
    this.counters.bytesIn += chunk.length;
    this.#unread.push(chunk);
    this.#read();
  }

  /** The client has closed its side; what is pending is still answered. */
  endOfInput(): void {
    this.#inputEnded = true;
    this.#read();
    this.#closeWhenDone();
  }

  /** The wire takes bytes again. */
  writable(): void {
    this.#flush();
    this.#read();
    this.#closeWhenDone();
  }

  /** The wire is gone. Commands go on; their replies are dropped. */
  closed(): void {
    this.#isClosed = true;
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#unread = [];
    this.#lines = undefined;
  }

  /** Takes up lines for as long as there is room for their answers; one chunk may hold thousands. */
  #read(): void {
    while (!this.#isFull && !this.#isClosed) {
      const next = this.#lines?.next();
      if (next?.done === false) {
        void this.#answer(next.value);
        continue;
      }
      const chunk = this.#unread.shift();
      if (chunk) this.#lines = this.#decoder.push(chunk);
      else if (this.#inputEnded && !this.#isDecoded) {
        this.#isDecoded = true;
        this.#lines = this.#decoder.end();
      } else break;
    }
    this.#regulateReading();
  }

  get #isFull(): boolean {
    return this.#queuedBytes > queuedBytesMax || this.#pending >= pendingRequestsMax;
  }

  async #answer(line: Line): Promise<void> {
    this.#pending++;
    const reply = await this.dispatcher.reply(line);
    this.#pending--;
    this.#send(encodeFrame(reply));
    this.#read();
    this.#closeWhenDone();
  }

  #send(frame: Uint8Array): void {
    if (this.#isClosed) return;
    this.#queue.push(frame);
    this.#queuedBytes += frame.length;
    if (this.#queue.length === 1) this.#flush();
  }

  #flush(): void {
    while (!this.#isClosed && this.#queue.length > 0) {
      const head = this.#queue[0]!;
      const written = Math.max(0, this.wire.write(head));
      this.counters.bytesOut += written;
      this.#queuedBytes -= written;
      if (written < head.length) {
        this.#queue[0] = head.subarray(written);
        break;
      }
      this.#queue.shift();
    }
  }

  /** A client that does not read its replies is not read either, until it does. */
  #regulateReading(): void {
    const isFull = this.#isFull;
    if (isFull === this.#isPaused || this.#isClosed) return;
    this.#isPaused = isFull;
    if (isFull) this.wire.pauseReading();
    else this.wire.resumeReading();
  }

  #closeWhenDone(): void {
    if (!this.#inputEnded || !this.#isDecoded || this.isBusy || this.#isClosed) return;
    this.#isClosed = true;
    this.wire.close();
  }
}
