// Writes output to stdout and stderr without blocking, so that signals are handled while the reader is slow.
// Backpressure: beyond `pendingBytesMax` the connection to the daemon is paused.
import { write } from "node:fs";
import { promisify } from "node:util";
import type { DaemonClient } from "./client.ts";

const writeSome = promisify(write);

const pendingBytesMax = 256 * 1024;

/** The reader closed the pipe, as head does, or the terminal is gone. Not a failure, unlike a full disk. */
export const isReaderClosed = ({ code }: NodeJS.ErrnoException): boolean =>
  code === "EPIPE" || code === "EIO";

export class OutputWriter {
  #pendingBytes = 0;
  /** Pending and later writes are dropped. */
  #isBroken = false;
  #last = Promise.resolve();

  constructor(
    readonly client: DaemonClient,
    /** Called once, after the first failed write. */
    readonly onBroken: (error: NodeJS.ErrnoException) => void,
  ) {}

  write(fd: 1 | 2, bytes: Uint8Array): void {
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes > pendingBytesMax) this.client.pause();
    this.#last = this.#last.then(() => this.#writeAll(fd, bytes));
  }

  /** Resolves when all output given so far is written or dropped. */
  flush(): Promise<void> {
    return this.#last;
  }

  /** Drops pending output; resolves when no write is under way. */
  discard(): Promise<void> {
    this.#isBroken = true;
    return this.#last;
  }

  async #writeAll(fd: number, bytes: Uint8Array): Promise<void> {
    for (let rest = bytes; rest.length > 0 && !this.#isBroken; ) {
      try {
        rest = rest.subarray((await writeSome(fd, rest)).bytesWritten);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EAGAIN") await Bun.sleep(1);
        else this.#break(error as NodeJS.ErrnoException);
      }
    }
    this.#pendingBytes -= bytes.length;
    if (this.#pendingBytes <= pendingBytesMax) this.client.resume();
  }

  #break(error: NodeJS.ErrnoException): void {
    this.#isBroken = true;
    this.onBroken(error);
  }
}
