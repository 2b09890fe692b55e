// Detects terminal queries in a program's output: sequences to which a terminal replies.
import type { OutputRing } from "../ring.ts";

/**
 * Device attributes and status, modes, window and keyboard reports, colours, terminfo. The expression may match more than
 * the emulator replies to, never less.
 */
const query = /\x1b(?:\[[?>=<]?[\d;:]*(?:[cnxqtu]|\$p)|\]\d+;[^\x07\x1b]*\?|P[+$]q|Z)|\x05/;
const queryBytesMax = 64;

export class QueryDetector {
  /** No escape or ENQ follows after this offset. */
  #lastEscape = 0;

  /** Ignores queries before the offset. */
  skipTo(offset: number): void {
    this.#lastEscape = offset;
  }

  /** Whether a query may end in the chunk that was pushed last; it may have begun in an earlier one. */
  mayBeIn(ring: OutputRing, chunk: Uint8Array): boolean {
    const { start, end } = ring;
    const from = Math.max(start, end - chunk.length - queryBytesMax);
    if (from > this.#lastEscape && !chunk.includes(0x1b) && !chunk.includes(0x05)) return false;
    this.#lastEscape = end;
    return query.test(Buffer.from(ring.copy(from).buffer).toString("latin1"));
  }
}
