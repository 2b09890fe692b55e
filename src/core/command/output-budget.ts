// Limits the memory for the output of all commands, running and retained. Beyond the limit the largest logs are cut down
// to the same size, and keep their beginning and end. Output that a reader has not read yet stays; such a log does not
// grow any more, and its command gets backpressure.
import { outputLogMinBytes } from "../limits.ts";
import { type CommandOutput, type OutputObserver, streamNames } from "./output.ts";

/** Logs are cut down to this part of the limit, so that the next growth does not cut the same logs again. */
const slack = 0.75;

export class OutputBudget implements OutputObserver {
  #heldBytes = 0;
  readonly #outputs = new Set<CommandOutput>();
  /** With so many bytes, no log could be cut down further. */
  #stuckAt = 0;

  constructor(readonly maxBytes: number) {}

  get heldBytes(): number {
    return this.#heldBytes;
  }

  add(output: CommandOutput): void {
    this.#outputs.add(output);
    this.#heldBytes += output.heldBytes;
    output.observe(this);
  }

  remove(output: CommandOutput): void {
    if (!this.#outputs.delete(output)) return;
    this.#heldBytes -= output.heldBytes;
    output.unobserve(this);
  }

  held(bytes: number): void {
    this.#heldBytes += bytes;
  }

  taken(): void {
    if (this.#heldBytes <= this.maxBytes) this.#stuckAt = 0;
    else if (this.#heldBytes > this.#stuckAt) this.#shrinkLargest();
  }

  /** Copies a log to cut it down, which blocks the event loop: stops as soon as the limit is met. */
  #shrinkLargest(): void {
    const logs = [...this.#outputs].flatMap((output) => streamNames.map((stream) => ({ output, stream })));
    const heldBy = ({ output, stream }: (typeof logs)[number]) => output[stream].heldBytes;
    const level = levelOf(logs.map(heldBy), this.maxBytes * slack);
    const wanted = Math.max(outputLogMinBytes, Math.floor(level));
    const largestFirst = logs.filter((log) => heldBy(log) > wanted).sort((a, b) => heldBy(b) - heldBy(a));
    for (const { output, stream } of largestFirst) {
      if (this.#heldBytes <= this.maxBytes) break;
      const { heldBytes, totalBytes } = output[stream];
      if (!output.shrink(stream, wanted)) output.shrink(stream, Math.min(heldBytes, totalBytes));
    }
    this.#stuckAt = this.#heldBytes > this.maxBytes ? this.#heldBytes : 0;
  }
}

/** The size to which all larger ones must shrink so that the sum is at most `sumMax`. */
export function levelOf(sizes: readonly number[], sumMax: number): number {
  const ascending = [...sizes].sort((a, b) => a - b);
  let left = sumMax;
  for (const [index, size] of ascending.entries()) {
    const share = left / (ascending.length - index);
    if (size > share) return share;
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}
