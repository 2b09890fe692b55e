// What carries frames between a test and the daemon.

export interface Carrier {
  /** Whole lines, except where a test is about the bytes themselves. */
  send(bytes: Uint8Array): void;
  /** Half-close: no more requests, but replies still come. */
  endInput(): void;
  /** Nothing is read until `resume`, so that the daemon finds its client slow. */
  pause(): void;
  resume(): void;
  /** Goes away at once. */
  terminate(): void;
}

export interface CarrierEvents {
  line(text: string): void;
  closed(): void;
}

/** Chunks in, whole lines out. */
export class LineSplitter {
  #parts: Buffer[] = [];

  *push(chunk: Uint8Array): Generator<string> {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const line = Buffer.concat([...this.#parts, chunk.subarray(start, end)]).toString();
      this.#parts = [];
      start = end + 1;
      yield line;
    }
    if (start < chunk.length) this.#parts.push(Buffer.from(chunk.subarray(start)));
  }

  /** What came after the last newline. */
  rest(): string {
    return Buffer.concat(this.#parts.splice(0)).toString();
  }
}
