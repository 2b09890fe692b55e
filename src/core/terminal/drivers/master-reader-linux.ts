// Direct read: reads a terminal's master by the daemon's own descriptor, a bounded piece at a time, so that a program
// that prints quickly cannot starve the other clients. FIONREAD shows whether output is available: `poll`, or a read of
// an empty master, waits for the kernel thread that flushes the output, which takes milliseconds beside other floods.

import { closeFd, readInto } from "../../../platform/libc.ts";
import { readGate } from "../../../platform/read-gate.ts";
import { unwatchReadable, watchReadable } from "../../../platform/readiness.ts";
import { hasOutput, openSlave } from "../../../platform/terminal.ts";
import { floodTurnBytes, readTurnMs } from "../../limits.ts";
import type { PtySpec } from "./driver.ts";
import type { PtyOutput } from "./master-pty.ts";

/** More than the kernel buffers of a terminal's output. */
const kernelBufferBytes = 128 * 1024;

/** Delay before a retry, after the kernel had no memory to watch the descriptor. */
const retryMs = 10;

/** Scratch memory of all readers: its contents are valid during one `onOutput` call. */
const scratch = Buffer.allocUnsafeSlow(floodTurnBytes);

export class MasterReader implements PtyOutput {
  /** Resolves when the program has exited, no process has the terminal open any more and all output was delivered. */
  readonly ended: Promise<void>;
  readonly #end = Promise.withResolvers<void>();
  /**
   * The slave side of the terminal, held open until the program exits: a program may close its terminal and open it
   * again (`exec >log 2>&1; echo prompt >/dev/tty`), and without this descriptor the kernel hangs up in between.
   */
  #slaveFd: number | undefined;
  #hasProgramEnded = false;
  #isStopped = false;

  private constructor(
    readonly fd: number,
    readonly onOutput: PtySpec["onOutput"],
  ) {
    this.ended = this.#end.promise;
  }

  /** Undefined if the descriptor cannot be watched; Bun has to read it then. */
  static start(fd: number, onOutput: PtySpec["onOutput"]): MasterReader | undefined {
    const reader = new MasterReader(fd, onOutput);
    if (!reader.#watch()) return undefined;
    reader.#slaveFd = openSlave(fd);
    if (readGate.whenOpen) {
      reader.pause();
      void readGate.whenOpen.then(() => reader.resume());
    }
    return reader;
  }

  /** Backpressure: until `resume`, output is delivered by `deliver` only. */
  pause(): void {
    unwatchReadable(this.fd);
  }

  resume(): void {
    if (!this.#isStopped && !this.#watch()) setTimeout(() => this.resume(), retryMs);
  }

  /** The remaining output is read in the usual way, then `ended` resolves. */
  programEnded(): void {
    this.#hasProgramEnded = true;
    this.#closeSlave();
  }

  /**
   * Delivers what the kernel still buffers and stops, before the descriptor is closed. While other terminals print,
   * output may stay unread for any time after the exit. A background process may print on, so the loop is bounded.
   */
  finish(): void {
    for (let bytes = 0; !this.#isStopped && bytes < kernelBufferBytes; ) {
      const length = readInto(this.fd, scratch, 0);
      if (length <= 0) break;
      bytes += length;
      this.onOutput(scratch.subarray(0, length));
    }
    this.stop();
  }

  /** Stops for good; must be called before the descriptor is closed. */
  stop(): void {
    this.#isStopped = true;
    this.pause();
    this.#closeSlave();
  }

  /** Reads one bounded piece and passes it to `onOutput`. Returns its length. */
  deliver(mayWait: boolean): number {
    const length = this.read(scratch, mayWait);
    if (length > 0) this.onOutput(scratch.subarray(0, length));
    return length;
  }

  /**
   * Reads what is available. With `mayWait`, a read of an empty master waits for the kernel thread that flushes the
   * output, which blocks the event loop; so no further read begins after `readTurnMs`.
   */
  read(into: Uint8Array, mayWait: boolean): number {
    if (this.#isStopped) return 0;
    let length = 0;
    const deadline = performance.now() + readTurnMs;
    while (length < into.length && (mayWait || hasOutput(this.fd))) {
      const bytes = readInto(this.fd, into, length);
      if (bytes <= 0) break;
      length += bytes;
      if (performance.now() >= deadline) break;
    }
    return length;
  }

  /** One read: if it leaves output behind, the epoll set reports the descriptor again. */
  #readable(isHungUp: boolean): void {
    const length = readInto(this.fd, scratch, 0);
    if (length > 0) this.onOutput(scratch.subarray(0, length));
    else if (isHungUp) this.#hungUp();
  }

  /** While the program runs, only `vhangup` can be the cause; opening the slave side again ends the hang-up. */
  #hungUp(): void {
    if (!this.#hasProgramEnded) {
      this.#closeSlave();
      this.#slaveFd = openSlave(this.fd);
      if (this.#slaveFd !== undefined) return;
    }
    this.stop();
    this.#end.resolve();
  }

  #watch(): boolean {
    return watchReadable(this.fd, (isHungUp) => this.#readable(isHungUp));
  }

  #closeSlave(): void {
    if (this.#slaveFd !== undefined) closeFd(this.#slaveFd);
    this.#slaveFd = undefined;
  }
}
