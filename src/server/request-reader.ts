// What a client says, taken up line by line for as long as there is room for the answers.
import { type Line, LineDecoder } from "../protocol/frame.ts";
import { lineBytesPerTurnMax, linesPerTurnMax, unreadBytesMax } from "./limits.ts";
import type { TransportStream } from "./transports/transport-stream.ts";

export interface Listener {
  /** Nobody would hear an answer. */
  readonly isClosed: boolean;
  /** There is no room for more answers; it will ask to be read on. */
  readonly isFull: boolean;
  answer(line: Line): void;
  /** Lines were taken up that it has not asked for just now. */
  hasReadOn(): void;
}

export class Inbox {
  /** The client says nothing more. */
  isEnded = false;
  readonly #decoder: LineDecoder;
  #unread: Uint8Array[] = [];
  #unreadBytes = 0;
  #lines: Generator<Line> | undefined;
  /** All that the client has said has been taken up, and nothing more will be. */
  #isDone = false;
  #isPaused = false;
  #isReadingOn = false;

  constructor(
    maxLineBytes: number,
    readonly transport: TransportStream,
    readonly listener: Listener,
  ) {
    this.#decoder = new LineDecoder(maxLineBytes);
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  get hasUnread(): boolean {
    return this.#unread.length > 0;
  }

  receive(chunk: Uint8Array): void {
    if (this.#isDone) return; // we have hung up
    const isIdle = this.#unread.length === 0 && !this.#lines && !this.listener.isFull;
    const line = isIdle ? this.#decoder.only(chunk) : undefined;
    if (line) {
      this.listener.answer(line);
      this.#regulate();
    } else {
      this.#unread.push(chunk);
      this.#unreadBytes += chunk.length;
      this.read();
    }
  }

  /** The client has closed its side; what it has said is still taken up. */
  end(): void {
    this.isEnded = true;
    this.read();
  }

  /** Nothing more is taken up. */
  close(): void {
    this.isEnded = this.#isDone = true;
    this.forget();
  }

  forget(): void {
    this.#unread = [];
    this.#unreadBytes = 0;
    this.#lines = undefined;
  }

  /** One chunk may hold thousands of lines, and one turn of the event loop may bring many chunks. */
  read(): void {
    if (!this.#isReadingOn) this.#read(); // else this turn has had its share
    this.#regulate();
  }

  #read(): void {
    const { listener } = this;
    for (let taken = 0, bytes = 0; !listener.isFull && !listener.isClosed; ) {
      const next = this.#lines?.next();
      if (next?.done === false) {
        if (next.value.kind === "line") bytes += next.value.bytes.length;
        listener.answer(next.value);
        if (++taken < linesPerTurnMax && bytes < lineBytesPerTurnMax) continue;
        this.#readOn();
        break;
      }
      this.#lines = undefined;
      const chunk = this.#unread.shift();
      if (chunk) {
        this.#unreadBytes -= chunk.length;
        this.#lines = this.#decoder.push(chunk);
      } else if (this.isEnded && !this.#isDone) {
        this.#isDone = true;
        this.#lines = this.#decoder.end();
      } else break;
    }
  }

  /** In another turn: other clients come in between. */
  #readOn(): void {
    if (this.#isReadingOn) return;
    this.#isReadingOn = true;
    setImmediate(() => {
      this.#isReadingOn = false;
      this.read();
      this.listener.hasReadOn();
    });
  }

  /** Reading pauses while a client does not read its replies, and while it asks faster than it is answered. */
  #regulate(): void {
    const { isFull, isClosed } = this.listener;
    const hasEnough = this.transport.senderWaits && this.#unreadBytes > unreadBytesMax;
    const isPaused = isFull || hasEnough;
    if (isPaused === this.#isPaused || isClosed) return;
    this.#isPaused = isPaused;
    if (isPaused) this.transport.pauseReading();
    else this.transport.resumeReading();
  }
}
