// Writes to a pipe without ever blocking the daemon, and without minding a reader that goes away.
import { closeSync } from "node:fs";
import { closeFd, writeWhole } from "../../platform/libc.ts";
import type { InputState } from "../../upgrade/schema/commands.ts";
import type { Packing, Unpacking } from "../../upgrade/schema/fields.ts";
import { pipeSyncWriteMaxBytes } from "../limits.ts";
import { readGate } from "../../platform/read-gate.ts";

/** A pipe takes so much as a whole or not at all (PIPE_BUF): what has not been written is known exactly. */
const pieceBytes = 4096;

/** Writes a little and closes the pipe, at once. */
export function writeAndClose(fd: number, bytes: Uint8Array): void {
  if (bytes.length > pipeSyncWriteMaxBytes) throw new Error("too much for a pipe to take at once");
  writeWhole(fd, bytes); // a reader that has gone did not want it, which is no error
  closeFd(fd);
}

export interface PipeWriterEvents {
  /** All has been written. */
  onRoom?(): void;
  /** The reader has gone. */
  onGone?(): void;
}

export class PipeWriter {
  #fd: number;
  #sink: Bun.FileSink;
  #queue: Uint8Array[] = [];
  #pendingBytes = 0;
  #isWriting = false;
  #awaitingEnd: (() => void)[] = [];
  #state: "open" | "ending" | "closed" = "open";

  constructor(
    fd: number,
    readonly events: PipeWriterEvents = {},
  ) {
    this.#fd = fd;
    this.#sink = Bun.file(fd).writer();
  }

  /** As another program has left it. */
  static from({ fd, pending, isEnding }: InputState, given: Unpacking): PipeWriter {
    const writer = new PipeWriter(fd);
    writer.write(given.bytes(pending));
    if (isEnding) writer.end();
    return writer;
  }

  /** Undefined where it is closed. */
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

  /** Not read yet, and perhaps never: whoever writes bounds it. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  write(bytes: Uint8Array): void {
    if (this.#state !== "open" || bytes.length === 0) return;
    this.#queue.push(bytes);
    this.#pendingBytes += bytes.length;
    void this.#drain();
  }

  /** End of file, once all is written. */
  end(): void {
    if (this.#state !== "open") return;
    this.#state = "ending";
    void this.#drain();
  }

  async #drain(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    try {
      if (readGate.over) await readGate.over;
      for (let next = this.#queue[0]; next; next = this.#queue[0]) {
        const piece = next.subarray(0, pieceBytes);
        await this.#sink.write(piece);
        await this.#sink.flush();
        if (piece.length < next.length) this.#queue[0] = next.subarray(piece.length);
        else this.#queue.shift();
        this.#pendingBytes -= piece.length;
      }
      this.events.onRoom?.();
      if (this.#state === "ending") this.#close();
    } catch {
      this.#close();
      this.events.onGone?.();
    }
    this.#isWriting = false;
    if (this.#queue.length > 0)
      void this.#drain(); // somebody has used the room
    else for (const resolve of this.#awaitingEnd.splice(0)) resolve();
  }

  /** Resolves when nothing waits to be written, for whatever reason. */
  async drained(): Promise<void> {
    if (this.#isWriting) await new Promise<void>((resolve) => this.#awaitingEnd.push(resolve));
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
