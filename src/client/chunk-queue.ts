// What has come of a command's output and waits to be taken; how far it has come, and how far it was taken, in bytes.

export const streamNames = ["stdout", "stderr"] as const;
export type StreamName = (typeof streamNames)[number];
type Offsets = Record<StreamName, number>;

export interface Chunk<Data = string> {
  type: StreamName;
  data: Data;
  /** Of its first byte in the stream. */
  offset: number;
  /** Bytes before it that the daemon did not keep, or that were let go because nobody read. */
  missing: number;
}

interface Waiting<Data> {
  chunk: Chunk<Data>;
  /** Where the stream stands after it. */
  end: number;
}

export class ChunkQueue<Data extends string | Uint8Array> {
  /** What is asked for next after a lost connection. */
  readonly received: Offsets;
  readonly taken: Offsets;
  #chunks: Waiting<Data>[] = [];
  /** The beginning of a character whose rest has not come yet. */
  readonly #begun: Record<StreamName, Uint8Array> = { stdout: nothing, stderr: nothing };
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
    /** Told when that much more was taken. */
    readonly onTaken: () => void,
  ) {
    this.received = { ...from };
    this.taken = { ...from };
  }

  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  /** Somebody waits for the next one, or it is dropped as it comes. */
  get isWanted(): boolean {
    return this.#isDiscarding || this.#wake.length > 0;
  }

  push(type: StreamName, bytes: Uint8Array, offset: number): void {
    const missing = offset - this.received[type];
    if (missing > 0) this.#flush(type); // what was begun does not go on here
    this.received[type] = offset + bytes.length;
    const begun = this.#begun[type];
    const all = begun.length > 0 ? joined(begun, bytes) : bytes;
    const length = this.asBytes ? all.length : wholeCharacters(all);
    this.#begun[type] = all.slice(length);
    const data = (this.asBytes ? all : decoder.decode(all.subarray(0, length))) as Data;
    const start = offset - begun.length;
    this.#add({ chunk: { type, data, offset: start, missing }, end: start + length });
  }

  /** What is before it and has not come is missing: a daemon that was killed leaves how much there was, and no more. */
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

  /** No more comes, because all has come, or because of the error. */
  end(error?: Error): void {
    if (this.#isEnded) return;
    if (!error) for (const type of streamNames) this.#flush(type);
    this.#isEnded = true;
    this.#error = error;
    this.#notify();
  }

  /** The next one; undefined at the end. */
  async next(): Promise<Chunk<Data> | undefined> {
    for (;;) {
      const waiting = this.#chunks.shift();
      if (waiting) {
        this.#take(waiting);
        return waiting.chunk;
      }
      if (this.#error) throw this.#error;
      if (this.#isEnded) return undefined;
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  /** From now on all is taken as it comes, and dropped. */
  discard(): void {
    this.#isDiscarding = true;
    for (const waiting of this.#chunks.splice(0)) this.#drop(waiting);
  }

  /** From now on it is kept again. */
  keep(): void {
    this.#isDiscarding = false;
  }

  /** What waits is not wanted now, but may be asked for again. */
  forget(): void {
    this.#chunks = [];
    Object.assign(this.received, this.taken);
    Object.assign(this.#begun, { stdout: nothing, stderr: nothing });
  }

  #add(waiting: Waiting<Data>): void {
    const { chunk } = waiting;
    if (this.#isDiscarding) this.#drop(waiting);
    else if (chunk.data.length > 0) {
      chunk.missing += this.#dropped[chunk.type];
      this.#dropped[chunk.type] = 0;
      this.#chunks.push(waiting);
    } else this.#dropped[chunk.type] += chunk.missing; // half a character: it is told with the whole one
    this.#notify();
  }

  #drop(waiting: Waiting<Data>): void {
    const { chunk, end } = waiting;
    this.#dropped[chunk.type] += chunk.missing + end - chunk.offset;
    this.#take(waiting);
  }

  #take({ chunk, end }: Waiting<Data>): void {
    this.#unreportedBytes += end - this.taken[chunk.type];
    this.taken[chunk.type] = end;
    if (this.#unreportedBytes < this.reportBytes) return;
    this.#unreportedBytes = 0;
    this.onTaken();
  }

  /** A character that was cut off by the end. */
  #flush(type: StreamName): void {
    const begun = this.#begun[type];
    this.#begun[type] = nothing;
    if (begun.length === 0) return;
    const end = this.received[type];
    const data = decoder.decode(begun) as Data;
    this.#add({ chunk: { type, data, offset: end - begun.length, missing: 0 }, end });
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

const nothing = new Uint8Array();
/** A byte order mark is output like any other. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** How many bytes there are before a character that is cut off by the end. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if ((byte & 0xc0) === 0x80) continue; // belongs to one that began before
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
