// Newline-delimited JSON: decodes bytes to lines of bounded length, encodes objects to bytes.

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const OPENING_BRACE = 0x7b;
const encoder = new TextEncoder();
const nothing = new Uint8Array(0);

export type Line = { kind: "line"; bytes: Uint8Array } | { kind: "too-long" };

/** A loop over so few bytes is faster than the call of `indexOf`. */
const shortChunkBytes = 256;

function firstNewline(chunk: Uint8Array): number {
  const { length } = chunk;
  if (length > shortChunkBytes) return chunk.indexOf(NEWLINE);
  for (let i = 0; i < length; i++) if (chunk[i] === NEWLINE) return i;
  return -1;
}

/** Cuts a byte stream into lines. Never holds more than one line of at most `maxBytes`. */
export class LineDecoder {
  #held = nothing;
  #heldBytes = 0;
  #skipping = false;

  constructor(readonly maxBytes: number) {}

  /** Lines are views of the chunk where possible: use them before the next call. */
  *push(chunk: Uint8Array): Generator<Line> {
    let start = 0;
    for (;;) {
      const newline = chunk.indexOf(NEWLINE, start);
      if (newline === -1) break;
      const line = this.#finish(chunk.subarray(start, newline));
      if (line) yield line;
      start = newline + 1;
    }
    this.#hold(chunk.subarray(start));
  }

  /**
   * The usual case, without the cost of a generator: a chunk that is exactly one line. The line keeps its newline, which
   * is white space for JSON.
   */
  only(chunk: Uint8Array): Line | undefined {
    if (this.#heldBytes > 0 || this.#skipping || chunk[0] !== OPENING_BRACE) return undefined;
    const end = chunk.length - 1;
    return end <= this.maxBytes && firstNewline(chunk) === end ? { kind: "line", bytes: chunk } : undefined;
  }

  /** A last line without a newline is still a line. */
  *end(): Generator<Line> {
    const line = this.#finish(nothing);
    if (line) yield line;
  }

  #finish(rest: Uint8Array): Line | undefined {
    let bytes = rest;
    if (this.#heldBytes > 0 || this.#skipping) {
      this.#hold(rest);
      bytes = this.#held.subarray(0, this.#heldBytes);
    }
    const skipped = this.#skipping;
    if (this.#heldBytes > 0 || skipped) this.#release();
    if (bytes.at(-1) === CARRIAGE_RETURN) bytes = bytes.subarray(0, -1);
    if (skipped || bytes.length > this.maxBytes) return { kind: "too-long" };
    return isBlank(bytes) ? undefined : { kind: "line", bytes };
  }

  /** One growing buffer, not a list of chunks: a client may send a long line byte by byte. */
  #hold(piece: Uint8Array): void {
    if (this.#skipping || piece.length === 0) return;
    const needed = this.#heldBytes + piece.length;
    if (needed > this.maxBytes + 1) {
      // One byte more than the limit, for a "\r" that does not count.
      this.#release();
      this.#skipping = true;
      return;
    }
    if (needed > this.#held.length) {
      const grown = new Uint8Array(Math.min(Math.max(needed, this.#held.length * 2), this.maxBytes + 1));
      grown.set(this.#held.subarray(0, this.#heldBytes));
      this.#held = grown;
    }
    this.#held.set(piece, this.#heldBytes);
    this.#heldBytes = needed;
  }

  #release(): void {
    this.#held = nothing;
    this.#heldBytes = 0;
    this.#skipping = false;
  }
}

export function encodeFrame(frame: unknown): Uint8Array {
  return encoder.encode(`${JSON.stringify(frame)}\n`);
}

function isBlank(bytes: Uint8Array): boolean {
  if (bytes[0] === OPENING_BRACE) return false;
  return bytes.every((byte) => byte === 0x20 || byte === 0x09);
}
