// What a command prints, once for all who want it: kept in two logs, and read from them by any number of readers
// at their own pace. A reader that is slow holds the command back, as a full pipe would; with no reader the
// oldest is dropped.
import type { OutputState } from "../../upgrade/schema/commands.ts";
import type { Packing, Unpacking } from "../../upgrade/schema/fields.ts";
import type { Sink } from "../process/pipe-reader.ts";
import { StreamLog } from "../process/stream-log.ts";

export const streamNames = ["stdout", "stderr"] as const;
export type StreamName = (typeof streamNames)[number];
export type Offsets = Record<StreamName, number>;

/** More than two pipes can hold. */
const finishingBytesMax = 4 * 1024 * 1024;
/** What one pipe holds at most, as a rule: to make room is to copy all, and is done once. */
const finishingStepBytes = 512 * 1024;

export class CommandOutput {
  readonly stdout: StreamLog;
  readonly stderr: StreamLog;
  #readers = new Set<OutputReader>();
  #waiting: (() => void)[] = [];
  #isFinishing = false;
  #finishingBytes = 0;
  #isComplete = false;
  #takesAll = false;
  /** Something was taken in. */
  onTaken: (() => void) | undefined;

  constructor(stdout: StreamLog, stderr: StreamLog) {
    this.stdout = stdout;
    this.stderr = stderr;
  }

  static keeping(bytesMax: number): CommandOutput {
    return new CommandOutput(new StreamLog(bytesMax), new StreamLog(bytesMax));
  }

  static from({ stdout, stderr }: OutputState, given: Unpacking): CommandOutput {
    return new CommandOutput(StreamLog.from(stdout, given), StreamLog.from(stderr, given));
  }

  get heldBytes(): number {
    return this.stdout.heldBytes + this.stderr.heldBytes;
  }

  /** Of memory that was taken or given back. */
  set onHeld(onHeld: ((bytes: number) => void) | undefined) {
    this.stdout.onHeld = this.stderr.onHeld = onHeld;
  }

  /** Keeps less of a stream from now on; false where a reader has not read yet what would be dropped. */
  shrink(stream: StreamName, keptBytesMax: number): boolean {
    let neededFrom = Number.POSITIVE_INFINITY;
    for (const { offsets } of this.#readers) neededFrom = Math.min(neededFrom, offsets[stream]);
    return this[stream].shrink(keptBytesMax, neededFrom);
  }

  pack(packing: Packing): OutputState {
    return { stdout: this.stdout.pack(packing), stderr: this.stderr.pack(packing) };
  }

  /** What has been read from the pipes is taken in, however slow a reader is; or no longer so. */
  set takesAll(takesAll: boolean) {
    this.#takesAll = takesAll;
    this.#readerMoved();
  }

  /** No more will come. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  get hasReaders(): boolean {
    return this.#readers.size > 0;
  }

  sinkOf(stream: StreamName): Sink {
    return (chunk) => this.#take(stream, chunk);
  }

  /** The command's own process has ended: what it has left in its pipes is taken, however slow a reader is. */
  finish(): void {
    this.#isFinishing = true;
    this.#readerMoved();
  }

  complete(): void {
    this.#isComplete = true;
    for (const reader of this.#readers) reader.onChange();
  }

  /** Gives back what was allocated for growth. */
  compact(): void {
    this.stdout.compact();
    this.stderr.compact();
  }

  /** Reads from these offsets, or from the first ones after them that are still there. */
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
    const room = this.#roomIn(stream);
    if (room < chunk.length) return this.#takeSlowly(stream, chunk);
    this[stream].push(chunk);
    this.#changed();
  }

  async #takeSlowly(stream: StreamName, chunk: Uint8Array): Promise<void> {
    for (let rest = chunk; rest.length > 0; ) {
      const fitting = rest.subarray(0, this.#roomIn(stream));
      if (fitting.length < rest.length && (this.#isFinishing || this.#takesAll)) {
        if (this.#finishingBytes > finishingBytesMax && !this.#takesAll) return; // a background process, which is not waited for
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

  #roomIn(stream: StreamName): number {
    let room = Number.POSITIVE_INFINITY;
    for (const reader of this.#readers) room = Math.min(room, this[stream].spaceFor(reader.offsets[stream]));
    return Math.max(0, room);
  }

  #changed(): void {
    this.onTaken?.();
    for (const reader of this.#readers) reader.onChange();
  }

  #readerMoved(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

export interface OutputPiece {
  stream: StreamName;
  offset: number;
  /** A view: to be used before anything else is read or written. */
  bytes: Uint8Array;
  /** Nothing comes after it, or a cut. */
  isLast: boolean;
  /** Bytes before it that are not kept any more. */
  missingFrom: number | undefined;
}

export class OutputReader {
  constructor(
    readonly output: CommandOutput,
    /** What is to be read next. */
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

  /** The next bytes of a stream; undefined where there are none yet. */
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
