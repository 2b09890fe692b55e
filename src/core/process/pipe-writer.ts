// Writes to a pipe without ever blocking the daemon, and without minding a reader that goes away.
import { closeSync } from "node:fs";
import { pipeSyncWriteMaxBytes } from "../limits.ts";
import { closeFd, writeWhole } from "./libc.ts";

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
      for (let next = this.#queue[0]; next; next = this.#queue[0]) {
        await this.#sink.write(next);
        await this.#sink.flush();
        this.#queue.shift();
        this.#pendingBytes -= next.length;
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
