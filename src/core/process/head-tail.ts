// Keeps the beginning and the end of an output in bounded memory, whatever its length.

/** First half of the budget for the head, the rest a ring for the tail; it grows only as far as it is filled. */
export class HeadTail {
  #buffer = new Uint8Array(0);
  #total = 0;
  readonly #headMax: number;

  constructor(readonly maxBytes: number) {
    this.#headMax = Math.ceil(maxBytes / 2);
  }

  get totalBytes(): number {
    return this.#total;
  }

  get isTruncated(): boolean {
    return this.#total > this.maxBytes;
  }

  push(chunk: Uint8Array): void {
    const linear = chunk.subarray(0, Math.max(0, this.maxBytes - this.#total));
    if (linear.length > 0) {
      this.#grow(this.#total + linear.length);
      this.#buffer.set(linear, this.#total);
    }
    this.#pushToRing(chunk.subarray(linear.length), this.#total + linear.length);
    this.#total += chunk.length;
  }

  /** `omittedBytes` lie between head and tail; with `onCharacters`, neither part ends inside a character. */
  parts(onCharacters: boolean): { head: Uint8Array; tail: Uint8Array; omittedBytes: number } {
    if (!this.isTruncated) {
      return { head: this.#buffer.subarray(0, this.#total), tail: new Uint8Array(0), omittedBytes: 0 };
    }
    let head = this.#buffer.subarray(0, this.#headMax);
    let tail = this.#unrolledTail();
    if (onCharacters) {
      head = head.subarray(0, endOfLastCharacter(head));
      tail = tail.subarray(startOfFirstCharacter(tail));
    }
    return { head, tail, omittedBytes: this.#total - head.length - tail.length };
  }

  #grow(needed: number): void {
    if (needed <= this.#buffer.length) return;
    const grown = new Uint8Array(Math.min(this.maxBytes, Math.max(needed, this.#buffer.length * 2, 4096)));
    grown.set(this.#buffer.subarray(0, this.#total));
    this.#buffer = grown;
  }

  #pushToRing(chunk: Uint8Array, offset: number): void {
    const ring = this.#buffer.subarray(this.#headMax);
    if (chunk.length === 0 || ring.length === 0) return;
    const kept = chunk.subarray(Math.max(0, chunk.length - ring.length));
    const at = (offset + chunk.length - kept.length - this.#headMax) % ring.length;
    const untilWrap = kept.subarray(0, ring.length - at);
    ring.set(untilWrap, at);
    ring.set(kept.subarray(untilWrap.length), 0);
  }

  #unrolledTail(): Uint8Array {
    const ring = this.#buffer.subarray(this.#headMax);
    if (ring.length === 0) return ring;
    const oldest = (this.#total - this.#headMax) % ring.length;
    return Buffer.concat([ring.subarray(oldest), ring.subarray(0, oldest)]);
  }
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

/** Bytes that no longer than a character (4) belong to a cut one are left out; other rubbish is kept. */
function endOfLastCharacter(bytes: Uint8Array): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isContinuation(bytes[start])) start--;
  const lead = bytes[start];
  if (lead === undefined) return bytes.length;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start + length > bytes.length ? start : bytes.length;
}

function startOfFirstCharacter(bytes: Uint8Array): number {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start++;
  return start;
}
