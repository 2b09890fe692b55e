// What the output of all commands may take together, of those that run and of those that are kept. Where it is more,
// the largest give first: each is cut down to the same level, and keeps its beginning and its end as always. What a
// reader has not read yet is not given; such a log just does not grow any more, and its command waits for the reader.
import { outputLogMinBytes } from "../limits.ts";
import { type CommandOutput, streamNames } from "./output.ts";

/** The level is that of so much, so that the next growth does not mean the same logs again. */
const slack = 0.75;

export class OutputBudget {
  #heldBytes = 0;
  readonly #outputs = new Set<CommandOutput>();
  /** With so much, nothing more could be given. */
  #stuckAt = 0;

  constructor(readonly maxBytes: number) {}

  get heldBytes(): number {
    return this.#heldBytes;
  }

  add(output: CommandOutput): void {
    this.#outputs.add(output);
    this.#heldBytes += output.heldBytes;
    output.onHeld = this.#held;
    output.onTaken = this.#keep;
  }

  remove(output: CommandOutput): void {
    if (!this.#outputs.delete(output)) return;
    this.#heldBytes -= output.heldBytes;
    output.onHeld = output.onTaken = undefined;
  }

  readonly #held = (bytes: number): void => {
    this.#heldBytes += bytes;
  };

  readonly #keep = (): void => {
    if (this.#heldBytes <= this.maxBytes) this.#stuckAt = 0;
    else if (this.#heldBytes > this.#stuckAt) this.#relieve();
  };

  /** To cut a log down is to copy it, and all wait meanwhile: no more of them than have to be. */
  #relieve(): void {
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

/** To which all that are larger must come down, so that the sum is no more than that. */
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
