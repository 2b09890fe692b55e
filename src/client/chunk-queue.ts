// What has come of a command's output and waits to be taken; how far it has come, and how far it was taken, in bytes.

export const streamNames = ["stdout", "stderr"] as const;
export type StreamName = (typeof streamNames)[number];
type Offsets = Record<StreamName, number>;

export interface Chunk<Data = string> {
  type: StreamName;
  data: Data;
  /** Of its first byte in the stream. */
  offset: number;
  /** Bytes before it that the daemon did not keep. */
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
  #texts: Record<StreamName, TextDecoder>;
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
    this.#texts = { stdout: textDecoder(), stderr: textDecoder() };
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
    if (missing !== 0) this.#texts[type] = textDecoder(); // what was begun does not go on here
    const end = offset + bytes.length;
    this.received[type] = end;
    const data = (this.asBytes ? bytes : this.#texts[type].decode(bytes, { stream: true })) as Data;
    this.#add({ chunk: { type, data, offset, missing: Math.max(0, missing) }, end });
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
    for (const waiting of this.#chunks.splice(0)) this.#take(waiting);
  }

  #add(waiting: Waiting<Data>): void {
    // Half a character is not shown yet, but it is ours.
    if (this.#isDiscarding || (waiting.chunk.data.length === 0 && waiting.chunk.missing === 0))
      this.#take(waiting);
    else this.#chunks.push(waiting);
    this.#notify();
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
    if (this.asBytes) return;
    const data = this.#texts[type].decode() as Data;
    const end = this.received[type];
    if (data.length > 0) this.#add({ chunk: { type, data, offset: end, missing: 0 }, end });
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

/** A byte order mark is output like any other. */
const textDecoder = () => new TextDecoder("utf-8", { ignoreBOM: true });
