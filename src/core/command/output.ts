// The output of a command in two logs, which any number of readers read at their own pace. A slow reader causes
// backpressure on the command, as a full pipe would; without readers the oldest output is dropped.
import type { OutputState } from "../../upgrade/schema/commands.ts";
import type { Packing, Unpacking } from "../../upgrade/schema/fields.ts";
import type { Sink } from "../process/pipe-reader.ts";
import { type OnHeld, StreamLog } from "../process/stream-log.ts";

export const streamNames = ["stdout", "stderr"] as const;
export type StreamName = (typeof streamNames)[number];
export type Offsets = Record<StreamName, number>;

/** More than two pipes can hold. */
const finishingBytesMax = 4 * 1024 * 1024;
/** The usual capacity of a pipe: the log copies all of its bytes to grow, and so grows once. */
const finishingStepBytes = 512 * 1024;

export interface OutputObserver {
  /** The logs allocated so many bytes, or freed them where it is negative. */
  held(bytes: number): void;
  /** A log took output. */
  taken(): void;
}

export class CommandOutput {
  readonly stdout: StreamLog;
  readonly stderr: StreamLog;
  readonly #observers = new Set<OutputObserver>();
  #readers = new Set<OutputReader>();
  #waiting: (() => void)[] = [];
  #isFinishing = false;
  #finishingBytes = 0;
  #isComplete = false;
  #takesAll = false;

  private constructor(create: (stream: StreamName, onHeld: OnHeld) => StreamLog) {
    const onHeld: OnHeld = (bytes) => {
      for (const observer of this.#observers) observer.held(bytes);
    };
    this.stdout = create("stdout", onHeld);
    this.stderr = create("stderr", onHeld);
  }

  static keeping(bytesMax: number): CommandOutput {
    return new CommandOutput((_, onHeld) => new StreamLog(bytesMax, onHeld));
  }

  static from(state: OutputState, given: Unpacking): CommandOutput {
    return new CommandOutput((stream, onHeld) => StreamLog.from(state[stream], given, onHeld));
  }

  get heldBytes(): number {
    return this.stdout.heldBytes + this.stderr.heldBytes;
  }

  observe(observer: OutputObserver): void {
    this.#observers.add(observer);
  }

  unobserve(observer: OutputObserver): void {
    this.#observers.delete(observer);
  }

  /** Lowers the limit of a stream; false where a reader has not read yet what would be dropped. */
  shrink(stream: StreamName, keptBytesMax: number): boolean {
    let neededFrom = Number.POSITIVE_INFINITY;
    for (const { offsets } of this.#readers) neededFrom = Math.min(neededFrom, offsets[stream]);
    return this[stream].shrink(keptBytesMax, neededFrom);
  }

  pack(packing: Packing): OutputState {
    return { stdout: this.stdout.pack(packing), stderr: this.stderr.pack(packing) };
  }

  /** Whether the logs take everything that was read from the pipes, without backpressure. */
  set takesAll(takesAll: boolean) {
    this.#takesAll = takesAll;
    this.#readerMoved();
  }

  /** All output is in the logs. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  get hasReaders(): boolean {
    return this.#readers.size > 0;
  }

  sinkOf(stream: StreamName): Sink {
    return (chunk) => this.#take(stream, chunk);
  }

  /** The command's own process has ended: the logs take the rest of its pipes without backpressure. */
  finish(): void {
    this.#isFinishing = true;
    this.#readerMoved();
  }

  complete(): void {
    this.#isComplete = true;
    for (const reader of this.#readers) reader.onChange();
  }

  /** Frees memory that was allocated for growth. */
  compact(): void {
    this.stdout.compact();
    this.stderr.compact();
  }

  /** Reads from these offsets, or from the first retained ones after them. */
  openReader(from: Offsets, onChange: () => void): OutputReader {
    const reader = new OutputReader(this, from, onChange, () => this.#readerMoved());
    this.#readers.add(reader);
    return reader;
  }

  closeReader(reader: OutputReader): void {
    this.#readers.delete(reader);
    this.#readerMoved();
  }

  #take(stream: StreamName, chunk: Uint8Array): void | Promise<void> {
    const capacity = this.#capacityFor(stream);
    if (capacity < chunk.length) return this.#takeSlowly(stream, chunk);
    this[stream].push(chunk);
    this.#changed();
  }

  async #takeSlowly(stream: StreamName, chunk: Uint8Array): Promise<void> {
    for (let rest = chunk; rest.length > 0; ) {
      const fitting = rest.subarray(0, this.#capacityFor(stream));
      if (fitting.length < rest.length && (this.#isFinishing || this.#takesAll)) {
        if (this.#finishingBytes > finishingBytesMax && !this.#takesAll) return; // a background process prints on
        if (!this.#takesAll) this.#finishingBytes += rest.length;
        this[stream].expand(Math.max(rest.length, finishingStepBytes));
        continue;
      }
      if (fitting.length === 0) {
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
        continue;
      }
      this[stream].push(fitting);
      rest = rest.subarray(fitting.length);
      this.#changed();
    }
  }

  /** How many bytes a stream can take before a reader loses output. */
  #capacityFor(stream: StreamName): number {
    let capacity = Number.POSITIVE_INFINITY;
    for (const { offsets } of this.#readers)
      capacity = Math.min(capacity, this[stream].spaceFor(offsets[stream]));
    return Math.max(0, capacity);
  }

  #changed(): void {
    for (const observer of this.#observers) observer.taken();
    for (const reader of this.#readers) reader.onChange();
  }

  #readerMoved(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

export interface OutputPiece {
  stream: StreamName;
  offset: number;
  /** A view, valid until the next read or write. */
  bytes: Uint8Array;
  /** The end of the output, or a gap, follows. */
  isLast: boolean;
  /** Where a gap before it begins: those bytes are no longer retained. */
  missingFrom: number | undefined;
}

export class OutputReader {
  constructor(
    readonly output: CommandOutput,
    /** Where the next read begins. */
    readonly offsets: Offsets,
    readonly onChange: () => void,
    readonly onMoved: () => void,
  ) {}

  get isAtEnd(): boolean {
    return (
      this.output.isComplete &&
      streamNames.every((name) => this.offsets[name] >= this.output[name].totalBytes)
    );
  }

  /** The next bytes of a stream, without moving on; undefined where there are none yet. */
  peek(stream: StreamName, maxBytes: number, onCharacters: boolean): OutputPiece | undefined {
    const log = this.output[stream];
    const wanted = this.offsets[stream];
    if (wanted >= log.totalBytes) return undefined;
    const offset = log.resumeFrom(wanted, onCharacters);
    const bytes = log.read(offset, maxBytes);
    const end = offset + bytes.length;
    const isLast = end === log.contiguousEnd(offset) && (this.output.isComplete || end < log.totalBytes);
    return { stream, offset, bytes, isLast, missingFrom: offset > wanted ? wanted : undefined };
  }

  moveTo(stream: StreamName, offset: number): void {
    this.offsets[stream] = offset;
    this.onMoved();
  }

  close(): void {
    this.output.closeReader(this);
  }
}
