// Reads a terminal's master by a descriptor of our own, a bounded piece at a time, so that a program that prints quickly
// cannot keep the daemon from its other clients. FIONREAD says whether there is output: a `poll`, or a read of an empty
// master, waits for the kernel thread that passes the output on, milliseconds where the processors are busy.

import { closeFd, readInto } from "../../../platform/libc.ts";
import { readGate } from "../../../platform/read-gate.ts";
import { unwatchReadable, watchReadable } from "../../../platform/readiness.ts";
import { hasOutput, openSlave } from "../../../platform/terminal.ts";
import { floodTurnBytes, outputWaitMaxMs } from "../../limits.ts";
import type { PtySpec } from "./driver.ts";

/** More than the kernel keeps of a terminal's output. */
const terminalHoldsBytes = 128 * 1024;

/** Where the kernel has no memory to watch a terminal. */
const retryMs = 10;

const memory = Buffer.allocUnsafeSlow(floodTurnBytes);

export class MasterReader {
  /** Resolves when the program has ended, no process has the terminal open any more and all of its output was read. */
  readonly ended: Promise<void>;
  readonly #end = Promise.withResolvers<void>();
  /**
   * The program's side of the terminal, held until the program ends: a program may close its terminal and open it again
   * (`exec >log 2>&1; echo prompt >/dev/tty`). Without it the kernel hangs the terminal up in between.
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

  /** Undefined where the system does not tell when there is output; Bun has to read then. */
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

  /** `onOutput` is not called until `resume`; `read` can be. */
  pause(): void {
    unwatchReadable(this.fd);
  }

  resume(): void {
    if (!this.#isStopped && !this.#watch()) setTimeout(() => this.resume(), retryMs);
  }

  /** What it has printed is read in the usual way, and then `ended` resolves. */
  programEnded(): void {
    this.#hasProgramEnded = true;
    this.#closeSlave();
  }

  /**
   * Reads what the program has printed and stops, before the descriptor is closed. Where other terminals print as well,
   * that may still be unread after any time. A background process may print on, so it is bounded.
   */
  finish(): void {
    for (let bytes = 0; !this.#isStopped && bytes < terminalHoldsBytes; ) {
      const length = readInto(this.fd, memory, 0);
      if (length <= 0) break;
      bytes += length;
      this.onOutput(memory.subarray(0, length));
    }
    this.stop();
  }

  /** For good, before the descriptor is closed. */
  stop(): void {
    this.#isStopped = true;
    this.pause();
    this.#closeSlave();
  }

  /**
   * How much was read into the memory: what is there, and what comes within so many milliseconds after the last of it.
   * A program that prints byte by byte is not waited for until the memory is full: no client is served meanwhile.
   */
  read(into: Uint8Array, patienceMs: number): number {
    if (this.#isStopped) return 0;
    let length = 0;
    const deadline = performance.now() + outputWaitMaxMs;
    for (let heardAt = performance.now(); length < into.length; ) {
      if (hasOutput(this.fd)) {
        const bytes = readInto(this.fd, into, length);
        if (bytes <= 0) break;
        length += bytes;
        heardAt = performance.now();
      } else if (performance.now() >= Math.min(heardAt + patienceMs, deadline)) break;
    }
    return length;
  }

  #readable(isHungUp: boolean): void {
    let length = this.read(memory, 0);
    // Output of a program that has ended may not be counted by FIONREAD yet; a read gives it, and fails behind it.
    if (length === 0) length = readInto(this.fd, memory, 0);
    if (length > 0) this.onOutput(memory.subarray(0, length));
    else if (isHungUp) this.#hungUp();
  }

  /** While the program lives, `vhangup` alone can have done it: opened again, the terminal is none that is hung up. */
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
