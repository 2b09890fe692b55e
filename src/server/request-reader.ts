// Received bytes as lines. The connection pulls lines one by one; bytes that it has not pulled yet wait here.
import { type Line, LineDecoder } from "../protocol/frame.ts";

export class RequestReader {
  /** No more bytes come. */
  isEnded = false;
  readonly #decoder: LineDecoder;
  #chunks: Uint8Array[] = [];
  #unreadBytes = 0;
  /** Lines of the last chunk that are left. */
  #lines: Generator<Line> | undefined;
  #isDone = false;

  constructor(maxLineBytes: number) {
    this.#decoder = new LineDecoder(maxLineBytes);
  }

  /** The input has ended and its last line is decoded. */
  get isDone(): boolean {
    return this.#isDone;
  }

  get hasUnread(): boolean {
    return this.#chunks.length > 0;
  }

  get unreadBytes(): number {
    return this.#unreadBytes;
  }

  push(chunk: Uint8Array): void {
    if (this.#isDone) return;
    this.#chunks.push(chunk);
    this.#unreadBytes += chunk.length;
  }

  /** Undefined while no whole line is there. The line's bytes are valid until the next call. */
  next(): Line | undefined {
    for (;;) {
      const next = this.#lines?.next();
      if (next?.done === false) return next.value;
      this.#lines = undefined;
      const chunk = this.#chunks.shift();
      if (chunk) {
        this.#unreadBytes -= chunk.length;
        const only = this.#decoder.only(chunk);
        if (only) return only;
        this.#lines = this.#decoder.push(chunk);
      } else if (this.isEnded && !this.#isDone) {
        this.#isDone = true;
        this.#lines = this.#decoder.end();
      } else return undefined;
    }
  }

  /** The client has closed its sending side; what it has sent is still read. */
  end(): void {
    this.isEnded = true;
  }

  /** Discards what is unread, and all that still comes. */
  close(): void {
    this.isEnded = this.#isDone = true;
    this.discard();
  }

  discard(): void {
    this.#chunks = [];
    this.#unreadBytes = 0;
    this.#lines = undefined;
  }
}
