// The command's output to ours, without blocking: signals must be heard while whoever reads us takes its time.
import { write } from "node:fs";
import { promisify } from "node:util";
import type { DaemonClient } from "./client.ts";

const writeSome = promisify(write);

/** What may wait to be written before the daemon is asked to wait, too. */
const pendingBytesMax = 256 * 1024;

/** Who reads us has gone, as head does: no failure. A full disk is one. */
export const isReaderGone = ({ code }: NodeJS.ErrnoException): boolean => code === "EPIPE" || code === "EIO";

export class OutputWriter {
  #pendingBytes = 0;
  /** Nothing more is written. */
  #isBroken = false;
  #last = Promise.resolve();

  constructor(
    readonly client: DaemonClient,
    /** What we write arrives nowhere any more. */
    readonly onBroken: (error: NodeJS.ErrnoException) => void,
  ) {}

  pass(fd: 1 | 2, bytes: Uint8Array): void {
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes > pendingBytesMax) this.client.pause();
    this.#last = this.#last.then(() => this.#write(fd, bytes));
  }

  /** All that was passed is written. */
  done(): Promise<void> {
    return this.#last;
  }

  /** What still waits is not wanted any more; resolves when nothing is being written. */
  discard(): Promise<void> {
    this.#isBroken = true;
    return this.#last;
  }

  async #write(fd: number, bytes: Uint8Array): Promise<void> {
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
