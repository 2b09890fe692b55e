// Where key follows key at once, as programs type, each echo is waited for: the processors are awake then, the kernel has
// it within some microseconds, and to be told of it in the usual way takes longer than that. Who types with pauses is
// not helped: a processor that has gone to sleep takes its time, and a daemon that waits for it takes another from it.
import { echoReadMs, hastyMs, keystrokeBytesMax } from "../limits.ts";
import { awaitOutput } from "./flow.ts";

/** An echo is short; what is longer comes as all other output does. */
const memory = Buffer.allocUnsafeSlow(1024);

export class HastyEcho {
  #lastTyped = Number.NEGATIVE_INFINITY;

  /** The bytes are there until this returns. */
  constructor(readonly onOutput: (chunk: Uint8Array) => void) {}

  /** What was typed has just been written. */
  typed(bytes: number, masterFd: number): void {
    const now = performance.now();
    const isHasty = now - this.#lastTyped < hastyMs && bytes <= keystrokeBytesMax;
    this.#lastTyped = now;
    if (!isHasty) return;
    const length = awaitOutput(masterFd, memory, echoReadMs);
    if (length > 0) this.onOutput(memory.subarray(0, length));
  }
}
