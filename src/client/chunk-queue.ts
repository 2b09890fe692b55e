// Output of a command that was received and not read yet, with both offsets of each stream in bytes. Splits text only
// between characters.

export const streamNames = ["stdout", "stderr"] as const;
export type StreamName = (typeof streamNames)[number];
type Offsets = Record<StreamName, number>;

export interface Chunk<Data = string> {
  type: StreamName;
  data: Data;
  /** Offset of its first byte in the stream. */
  offset: number;
  /** Bytes before it that the daemon no longer had, or that were dropped because they were not read. */
  missing: number;
}

interface QueuedChunk<Data> {
  chunk: Chunk<Data>;
  /** Offset of the byte after it. */
  end: number;
}

export class ChunkQueue<Data extends string | Uint8Array> {
  /** The offsets from which the output resumes after a lost connection. */
  readonly received: Offsets;
  readonly taken: Offsets;
  #chunks: QueuedChunk<Data>[] = [];
  /** The first bytes of a character that is not complete yet. */
  readonly #partial: Record<StreamName, Uint8Array> = { stdout: nothing, stderr: nothing };
  readonly #dropped: Offsets = { stdout: 0, stderr: 0 };
  #unreportedBytes = 0;
  #isDiscarding = false;
  #isEnded = false;
  #error: Error | undefined;
  #wake: (() => void)[] = [];

  constructor(
    from: Offsets,
    readonly asBytes: boolean,
    readonly reportBytes: number,
    /** Called each time `reportBytes` more were taken. */
    readonly onTaken: () => void,
  ) {
    this.received = { ...from };
    this.taken = { ...from };
  }

  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  /** A reader waits for the next chunk, or chunks are discarded as they arrive. */
  get isWanted(): boolean {
    return this.#isDiscarding || this.#wake.length > 0;
  }

  push(type: StreamName, bytes: Uint8Array, offset: number): void {
    const missing = offset - this.received[type];
    if (missing > 0) this.#flush(type); // the rest of that character is missing
    this.received[type] = offset + bytes.length;
    const partial = this.#partial[type];
    const all = partial.length > 0 ? joined(partial, bytes) : bytes;
    const length = this.asBytes ? all.length : wholeCharacters(all);
    this.#partial[type] = all.slice(length);
    const data = (this.asBytes ? all : decoder.decode(all.subarray(0, length))) as Data;
    const start = offset - partial.length;
    this.#add({ chunk: { type, data, offset: start, missing }, end: start + length });
  }

  /** Reports output before `end` that has not arrived as missing: of a killed daemon only the byte counts are known. */
  skipTo(end: Offsets): void {
    for (const type of streamNames) {
      const missing = end[type] - this.received[type] + this.#dropped[type];
      if (end[type] <= this.received[type] || this.#isDiscarding) continue;
      this.#flush(type);
      const data = (this.asBytes ? nothing : "") as Data;
      this.#chunks.push({ chunk: { type, data, offset: end[type], missing }, end: end[type] });
      this.received[type] = end[type];
    }
  }

  /** Nothing more arrives: the output is complete, or `error` ended it. */
  end(error?: Error): void {
    if (this.#isEnded) return;
    if (!error) for (const type of streamNames) this.#flush(type);
    this.#isEnded = true;
    this.#error = error;
    this.#notify();
  }

  /** The next chunk; undefined at the end. */
  async next(): Promise<Chunk<Data> | undefined> {
    for (;;) {
      const queued = this.#chunks.shift();
      if (queued) {
        this.#take(queued);
        return queued.chunk;
      }
      if (this.#error) throw this.#error;
      if (this.#isEnded) return undefined;
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  /** From now on chunks count as taken when they arrive, and are dropped. */
  discard(): void {
    this.#isDiscarding = true;
    for (const queued of this.#chunks.splice(0)) this.#drop(queued);
  }

  /** From now on chunks are queued again. */
  keep(): void {
    this.#isDiscarding = false;
  }

  /** Drops the queued chunks and rewinds, so that resuming fetches them again. */
  forget(): void {
    this.#chunks = [];
    Object.assign(this.received, this.taken);
    Object.assign(this.#partial, { stdout: nothing, stderr: nothing });
  }

  #add(queued: QueuedChunk<Data>): void {
    const { chunk } = queued;
    if (this.#isDiscarding) this.#drop(queued);
    else if (chunk.data.length > 0) {
      chunk.missing += this.#dropped[chunk.type];
      this.#dropped[chunk.type] = 0;
      this.#chunks.push(queued);
    } else this.#dropped[chunk.type] += chunk.missing; // part of a character: reported with the rest of it
    this.#notify();
  }

  #drop(queued: QueuedChunk<Data>): void {
    const { chunk, end } = queued;
    this.#dropped[chunk.type] += chunk.missing + end - chunk.offset;
    this.#take(queued);
  }

  #take({ chunk, end }: QueuedChunk<Data>): void {
    this.#unreportedBytes += end - this.taken[chunk.type];
    this.taken[chunk.type] = end;
    if (this.#unreportedBytes < this.reportBytes) return;
    this.#unreportedBytes = 0;
    this.onTaken();
  }

  /** Emits a character that the end of the output cut off. */
  #flush(type: StreamName): void {
    const partial = this.#partial[type];
    this.#partial[type] = nothing;
    if (partial.length === 0) return;
    const end = this.received[type];
    const data = decoder.decode(partial) as Data;
    this.#add({ chunk: { type, data, offset: end - partial.length, missing: 0 }, end });
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

const nothing = new Uint8Array();
/** A byte order mark is part of the output. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** Number of bytes before a character that the end of `bytes` cuts off. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if ((byte & 0xc0) === 0x80) continue; // continuation byte of a character that began before
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
