// A flood of plain text scrolls everything out of sight, the history included: only its end makes a difference to the
// screen, and reading the rest would cost as much as all else together. What is left out is exactly what cannot show.

import { scrollbackLines } from "../../limits.ts";
import { rollBack } from "../../process/garbage.ts";
import type { OutputRing } from "../ring.ts";

const newline = 0x0a;
const ESC = 0x1b;

/** Controls but tabs and line ends, escapes but colours, and C1 controls (c2 80..9f), which are no characters. */
const lasting = /[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]|\x1b(?!\[[\d;:]*m)|\xc2(?![\xa0-\xbf])/;
const colour = /\x1b\[[\d;:]*m/g;

/** Whether a piece of output has no effect that lasts: text, line ends, tabs and colours. In doubt it has. */
export function isPlain(chunk: Uint8Array, plainStart = (_: Uint8Array) => 0): boolean {
  if (isLetter(chunk)) return true;
  const from = chunk.length < wideBytesMin ? 0 : plainStart(chunk);
  return from === chunk.length || !lasting.test(latin1(chunk.subarray(from)));
}

/** Less is looked at as quickly in the other way. */
const wideBytesMin = 512;

/** What most echoes are. */
const isLetter = (chunk: Uint8Array) => chunk.length === 1 && chunk[0]! >= 0x20 && chunk[0]! < 0x7f;

const latin1 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");

/** Lines of ordinary length are in so much. */
const tailBytes = 256 * 1024;

/** A line of a flood is looked for in so much. */
const lineBytesMax = 4096;

/** Where the next line begins; undefined where none does soon. */
export function nextLine(ring: OutputRing, from: number): number | undefined {
  const end = ring.copy(from, from + lineBytesMax).indexOf(newline);
  return end === -1 ? undefined : from + end + 1;
}

export interface Skip {
  /** Up to there nothing has an effect but the colours. */
  to: number;
  /** To be written in its stead. */
  colours: string;
}

/** For plain output that begins at the beginning of a line. Undefined where nothing can be skipped. */
export function skipFlood(ring: OutputRing, from: number, rows: number): Skip | undefined {
  const tailFrom = Math.max(from, ring.end - tailBytes);
  const to = lastLinesIn(ring, tailFrom, rows) ?? lastLinesIn(ring, from, rows);
  return to === undefined ? undefined : { to, colours: coloursIn(ring, from, to) };
}

/** Where the screen and its history begin, if all of their lines are behind `from`. */
function lastLinesIn(ring: OutputRing, from: number, rows: number): number | undefined {
  const copy = ring.copy(from);
  const cut = lastLines(Buffer.from(copy.buffer), rows);
  rollBack(copy);
  return cut === undefined ? undefined : from + cut;
}

function lastLines(bytes: Buffer, rows: number): number | undefined {
  let cut = bytes.length;
  // The first of them may be written over what is on the screen below the cursor, and must not stay.
  for (let lines = scrollbackLines + 2 * rows + 1; lines > 0; lines--) {
    cut = bytes.lastIndexOf(newline, cut - 1);
    if (cut <= 0) return undefined;
  }
  // The line ends must bring the cursor back to the first column.
  return bytes[cut - 1] === 0x0d ? cut + 1 : undefined;
}

function coloursIn(ring: OutputRing, from: number, to: number): string {
  if (!hasEscape(ring, from, to)) return "";
  const copy = ring.copy(from, to);
  const colours = coloursOf(Buffer.from(copy.buffer));
  rollBack(copy);
  return colours;
}

function hasEscape(ring: OutputRing, from: number, to: number): boolean {
  for (let at = from; at < to; ) {
    const piece = ring.view(at, to - at);
    if (piece.includes(ESC)) return true;
    at += piece.length;
  }
  return false;
}

/** All since the last reset; what came before it has no effect any more. */
function coloursOf(skipped: Buffer): string {
  const reset = Math.max(0, skipped.lastIndexOf("\x1b[0m"), skipped.lastIndexOf("\x1b[m"));
  return (latin1(skipped.subarray(reset)).match(colour) ?? []).join("");
}
