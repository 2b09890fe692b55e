// Writes to a pipe from a queue, without blocking the daemon. A reader that has closed its end is no error.
import { closeSync } from "node:fs";
import { closeFd, writeWhole } from "../../platform/libc.ts";
import { readGate } from "../../platform/read-gate.ts";
import type { InputState } from "../../upgrade/schema/commands.ts";
import type { Packing, Unpacking } from "../../upgrade/schema/fields.ts";
import { pipeSyncWriteMaxBytes } from "../limits.ts";

/** PIPE_BUF: a write of this size is atomic, so the unwritten rest is known exactly. */
const pieceBytes = 4096;

/** Writes a few bytes synchronously and closes the pipe. */
export function writeAndClose(fd: number, bytes: Uint8Array): void {
  if (bytes.length > pipeSyncWriteMaxBytes)
    throw new Error("too many bytes for a synchronous write to a pipe");
  writeWhole(fd, bytes); // fails if the reader has closed its end, which is no error
  closeFd(fd);
}

export interface PipeWriterEvents {
  /** The queue is empty. */
  onDrained?(): void;
  /** The reader has closed its end. */
  onReaderClosed?(): void;
}

export class PipeWriter {
  #fd: number;
  #sink: Bun.FileSink;
  #queue: Uint8Array[] = [];
  #pendingBytes = 0;
  #isWriting = false;
  #drainWaiters: (() => void)[] = [];
  #state: "open" | "ending" | "closed" = "open";

  constructor(
    fd: number,
    readonly events: PipeWriterEvents = {},
  ) {
    this.#fd = fd;
    this.#sink = Bun.file(fd).writer();
  }

  /** Restores the writer of the program before an upgrade. */
  static from({ fd, pending, isEnding }: InputState, given: Unpacking): PipeWriter {
    const writer = new PipeWriter(fd);
    writer.write(given.bytes(pending));
    if (isEnding) writer.end();
    return writer;
  }

  /** Undefined if it is closed. */
  pack(packing: Packing): InputState | undefined {
    if (this.#state === "closed") return undefined;
    return {
      fd: packing.descriptor(this.#fd),
      pending: packing.bytes(Buffer.concat(this.#queue)),
      isEnding: this.#state === "ending",
    };
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** The size of the queue, which the callers of `write` have to bound. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  write(bytes: Uint8Array): void {
    if (this.#state !== "open" || bytes.length === 0) return;
    this.#queue.push(bytes);
    this.#pendingBytes += bytes.length;
    void this.#drain();
  }

  /** Closes the pipe once the queue is empty. */
  end(): void {
    if (this.#state !== "open") return;
    this.#state = "ending";
    void this.#drain();
  }

  async #drain(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    try {
      if (readGate.whenOpen) await readGate.whenOpen;
      for (let next = this.#queue[0]; next; next = this.#queue[0]) {
        const piece = next.subarray(0, pieceBytes);
        await this.#sink.write(piece);
        await this.#sink.flush();
        if (piece.length < next.length) this.#queue[0] = next.subarray(piece.length);
        else this.#queue.shift();
        this.#pendingBytes -= piece.length;
      }
      this.events.onDrained?.();
      if (this.#state === "ending") this.#close();
    } catch {
      this.#close();
      this.events.onReaderClosed?.();
    }
    this.#isWriting = false;
    if (this.#queue.length > 0)
      void this.#drain(); // `onDrained` has queued more
    else for (const resolve of this.#drainWaiters.splice(0)) resolve();
  }

  /** Resolves when the queue is empty or the pipe is closed. */
  async drained(): Promise<void> {
    if (this.#isWriting) await new Promise<void>((resolve) => this.#drainWaiters.push(resolve));
  }

  #close(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#queue = [];
    this.#pendingBytes = 0;
    Promise.resolve(this.#sink.end()).catch(() => {});
    closeSync(this.#fd);
  }
}
