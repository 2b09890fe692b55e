// What a client says, taken up line by line for as long as there is room for the answers.
import { type Line, LineDecoder } from "../protocol/frame.ts";
import { lineBytesPerTurnMax, linesPerTurnMax } from "./limits.ts";
import type { Wire } from "./wire.ts";

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
  #lines: Generator<Line> | undefined;
  /** All that the client has said has been taken up, and nothing more will be. */
  #isDone = false;
  #isPaused = false;
  #isReadingOn = false;

  constructor(
    maxLineBytes: number,
    readonly wire: Wire,
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
    this.#lines = undefined;
  }

  /** One chunk may hold thousands of lines. */
  read(): void {
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
      if (chunk) this.#lines = this.#decoder.push(chunk);
      else if (this.isEnded && !this.#isDone) {
        this.#isDone = true;
        this.#lines = this.#decoder.end();
      } else break;
    }
    this.#regulate();
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

  /** A client that does not read its replies is not read either, until it does. */
  #regulate(): void {
    const { isFull, isClosed } = this.listener;
    if (isFull === this.#isPaused || isClosed) return;
    this.#isPaused = isFull;
    if (isFull) this.wire.pauseReading();
    else this.wire.resumeReading();
  }
}
