// Writes input to a terminal by the daemon's own descriptor of the master, in the same turn of the event loop. Bun writes
// a turn later, with which the echo of a keystroke takes 1.5 times as long. Input that the terminal does not take is
// queued here and retried with backoff.
import { closeSync, writeSync } from "node:fs";
import { writeSome } from "../../../platform/libc.ts";
import { setSize } from "../../../platform/terminal.ts";
import type { Packing } from "../../../upgrade/schema/fields.ts";
import type { LivePtyState } from "../../../upgrade/schema/terminals.ts";
import type { TerminalSize } from "./driver.ts";
import type { PtyInput } from "./master-pty.ts";

/** Backoff: doubled after each retry that wrote nothing. */
const retryMinMs = 1;
const retryMaxMs = 32;

export class MasterWriter implements PtyInput {
  #queue: Uint8Array[] = [];
  #pendingBytes = 0;
  #timer: Timer | undefined;
  #retryMs = retryMinMs;
  #isClosed = false;

  /** Owns the descriptor, which must be non-blocking. */
  constructor(readonly fd: number) {}

  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  write(bytes: Uint8Array): void {
    if (this.#isClosed || bytes.length === 0) return;
    const written = this.#pendingBytes === 0 ? Math.max(0, writeSome(this.fd, bytes)) : 0;
    if (written === bytes.length) return;
    this.#queue.push(bytes.subarray(written));
    this.#pendingBytes += bytes.length - written;
    if (this.#timer === undefined) this.#flush();
  }

  resize(size: TerminalSize): void {
    setSize(this.fd, size);
  }

  pack(packing: Packing): LivePtyState {
    return { masterFd: packing.descriptor(this.fd), pending: packing.bytes(Buffer.concat(this.#queue)) };
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
    let hasWritten = false;
    for (let next = this.#queue[0]; next; next = this.#queue[0]) {
      const written = this.#writeOrDrop(next);
      hasWritten ||= written > 0;
      this.#pendingBytes -= written;
      if (written === next.length) this.#queue.shift();
      else {
        this.#queue[0] = next.subarray(written);
        break;
      }
    }
    this.#retryMs = hasWritten ? retryMinMs : Math.min(this.#retryMs * 2, retryMaxMs);
    if (this.#queue.length > 0) this.#timer = setTimeout(() => this.#flush(), this.#retryMs);
  }

  #writeOrDrop(bytes: Uint8Array): number {
    const written = writeSome(this.fd, bytes);
    if (written >= 0) return written;
    try {
      return writeSync(this.fd, bytes); // repeats the write, for its error code
    } catch (error) {
      // EAGAIN: the terminal's buffer is full. After any other error no process can read the input: it is dropped.
      return (error as NodeJS.ErrnoException).code === "EAGAIN" ? 0 : bytes.length;
    }
  }
}
