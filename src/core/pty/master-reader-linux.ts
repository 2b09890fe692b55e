// Reads a terminal's master by a descriptor of our own, a bounded piece at a time, so that a program that prints quickly
// cannot keep the daemon from its other clients. FIONREAD says whether there is output: a `poll`, or a read of an empty
// master, waits for the kernel thread that passes the output on, milliseconds where the processors are busy.
import { floodTurnBytes, longestPatienceMs } from "../limits.ts";
import { readInto } from "../process/libc.ts";
import { unwatchReadable, watchReadable } from "../process/readiness-linux.ts";
import { standstill } from "../process/standstill.ts";
import type { PtySpec } from "./driver.ts";
import { hasOutput } from "./flow-linux.ts";

const memory = Buffer.allocUnsafeSlow(floodTurnBytes);

export class MasterReader {
  /** Resolves when no process has the terminal open any more and all of its output was read. */
  readonly ended: Promise<void>;
  readonly #end = Promise.withResolvers<void>();
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
    if (!reader.resume()) return undefined;
    if (standstill.over) {
      reader.pause();
      void standstill.over.then(() => reader.resume());
    }
    return reader;
  }

  /** `onOutput` is not called until `resume`; `read` can be. */
  pause(): void {
    unwatchReadable(this.fd);
  }

  resume(): boolean {
    return !this.#isStopped && watchReadable(this.fd, (isHungUp) => this.#readable(isHungUp));
  }

  /** For good, before the descriptor is closed. */
  stop(): void {
    this.#isStopped = true;
    this.pause();
  }

  /**
   * How much was read into the memory: what is there, and what comes within so many milliseconds after the last of it.
   * A program that prints byte by byte is not waited for until the memory is full: no client is served meanwhile.
   */
  read(into: Uint8Array, patienceMs: number): number {
    if (this.#isStopped) return 0;
    let length = 0;
    const deadline = performance.now() + longestPatienceMs;
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
    else if (isHungUp) {
      this.stop();
      this.#end.resolve();
    }
  }
}
