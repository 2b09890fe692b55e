// Input for a terminal, by a descriptor of our own: what it takes is written at once, and the rest waits here, so that it
// is always known what has been written. Bun's own write comes a turn of the event loop later: a keystroke's echo would
// take half as long again.
import { closeSync, writeSync } from "node:fs";
import { writeSome } from "../../../platform/libc.ts";

/** A program that reads takes more soon; one that does not is asked less and less often. */
const retryMinMs = 1;
const retryMaxMs = 32;

export class MasterWriter {
  #queue: Uint8Array[] = [];
  #pendingBytes = 0;
  #timer: Timer | undefined;
  #retryMs = retryMinMs;
  #isClosed = false;

  /** The descriptor does not block, and is closed with this. */
  constructor(readonly fd: number) {}

  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Not written yet. */
  get pending(): Uint8Array {
    return Buffer.concat(this.#queue);
  }

  write(bytes: Uint8Array): void {
    if (this.#isClosed || bytes.length === 0) return;
    // It is taken whole, as a rule.
    const taken = this.#pendingBytes === 0 ? Math.max(0, writeSome(this.fd, bytes)) : 0;
    if (taken === bytes.length) return;
    this.#queue.push(bytes.subarray(taken));
    this.#pendingBytes += bytes.length - taken;
    if (this.#timer === undefined) this.#flush();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#queue = [];
    this.#pendingBytes = 0;
    closeSync(this.fd);
  }

  #flush(): void {
    this.#timer = undefined;
    let hasTaken = false;
    for (let next = this.#queue[0]; next; next = this.#queue[0]) {
      const written = this.#take(next);
      hasTaken ||= written > 0;
      this.#pendingBytes -= written;
      if (written === next.length) this.#queue.shift();
      else {
        this.#queue[0] = next.subarray(written);
        break;
      }
    }
    this.#retryMs = hasTaken ? retryMinMs : Math.min(this.#retryMs * 2, retryMaxMs);
    if (this.#queue.length > 0) this.#timer = setTimeout(() => this.#flush(), this.#retryMs);
  }

  #take(bytes: Uint8Array): number {
    const taken = writeSome(this.fd, bytes);
    if (taken >= 0) return taken;
    try {
      return writeSync(this.fd, bytes); // which says why
    } catch (error) {
      // It takes no more for now; or its other side is gone, and nobody will ever read this.
      return (error as NodeJS.ErrnoException).code === "EAGAIN" ? 0 : bytes.length;
    }
  }
}
