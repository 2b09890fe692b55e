// Finds questions to the terminal in a program's output.
import type { OutputRing } from "../ring.ts";

/**
 * Device attributes and status, modes, window and keyboard reports, colours, terminfo. The expression may find more than
 * there is, never less than the emulator answers.
 */
const question = /\x1b(?:\[[?>=<]?[\d;:]*(?:[cnxqtu]|\$p)|\]\d+;[^\x07\x1b]*\?|P[+$]q|Z)|\x05/;
const questionBytesMax = 64;

export class TerminalQueries {
  /** There is none behind it. */
  #lastEscape = 0;

  /** Those before this offset are of no interest. */
  skipTo(offset: number): void {
    this.#lastEscape = offset;
  }

  /** Whether there may be one in what was pushed last. It may have come in pieces. */
  mayBeIn(ring: OutputRing, chunk: Uint8Array): boolean {
    const { start, end } = ring;
    const from = Math.max(start, end - chunk.length - questionBytesMax);
    if (from > this.#lastEscape && !chunk.includes(0x1b) && !chunk.includes(0x05)) return false;
    this.#lastEscape = end;
    return question.test(Buffer.from(ring.copy(from).buffer).toString("latin1"));
  }
}
