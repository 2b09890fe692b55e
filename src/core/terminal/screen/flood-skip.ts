// Skips output that cannot show. A flood of plain text scrolls the screen and its history away, so only its end makes a
// difference, while an emulator that reads all of it would cost as much as everything else together.

import { freeChunk } from "../../../platform/garbage.ts";
import { scrollbackLines } from "../../limits.ts";
import type { OutputRing } from "../ring.ts";

const newline = 0x0a;
const ESC = 0x1b;

/** Controls except tabs and line ends, escapes except colours, and C1 controls (c2 80..9f). */
const lasting = /[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]|\x1b(?!\[[\d;:]*m)|\xc2(?![\xa0-\xbf])/;
const colour = /\x1b\[[\d;:]*m/g;

/** True if a chunk consists of text, line ends, tabs and colours, which have no lasting effect. False in doubt. */
export const isPlain = (chunk: Uint8Array): boolean => isOneCharacter(chunk) || !lasting.test(latin1(chunk));

/** The usual echo. */
const isOneCharacter = (chunk: Uint8Array) => chunk.length === 1 && chunk[0]! >= 0x20 && chunk[0]! < 0x7f;

const latin1 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");

/** Enough for all lines of the history, if they have ordinary lengths. */
const tailBytes = 256 * 1024;

/** A line end of a flood is searched for in so many bytes. */
const lineBytesMax = 4096;

/** The offset of the next line's beginning; undefined if none is within `lineBytesMax`. */
export function nextLine(ring: OutputRing, from: number): number | undefined {
  const end = ring.copy(from, from + lineBytesMax).indexOf(newline);
  return end === -1 ? undefined : from + end + 1;
}

export interface Skip {
  /** Output before this offset has no effect except for its colours. */
  to: number;
  /** Replaces the skipped output. */
  colours: string;
}

/** The output from `from` on must be plain and begin with a line. Undefined if nothing can be skipped. */
export function skipFlood(ring: OutputRing, from: number, rows: number): Skip | undefined {
  const tailFrom = Math.max(from, ring.end - tailBytes);
  const to = lastLinesIn(ring, tailFrom, rows) ?? lastLinesIn(ring, from, rows);
  return to === undefined ? undefined : { to, colours: coloursIn(ring, from, to) };
}

/** The offset of the first line of the history, if it is not before `from`. */
function lastLinesIn(ring: OutputRing, from: number, rows: number): number | undefined {
  const copy = ring.copy(from);
  const cut = lastLines(Buffer.from(copy.buffer), rows);
  freeChunk(copy);
  return cut === undefined ? undefined : from + cut;
}

function lastLines(bytes: Buffer, rows: number): number | undefined {
  let cut = bytes.length;
  // One screen more than the history: the first lines overwrite what is below the cursor, and must scroll away, too.
  for (let lines = scrollbackLines + 2 * rows + 1; lines > 0; lines--) {
    cut = bytes.lastIndexOf(newline, cut - 1);
    if (cut <= 0) return undefined;
  }
  // Without "\r" the line end does not move the cursor to the first column.
  return bytes[cut - 1] === 0x0d ? cut + 1 : undefined;
}

function coloursIn(ring: OutputRing, from: number, to: number): string {
  if (!hasEscape(ring, from, to)) return "";
  const copy = ring.copy(from, to);
  const colours = coloursOf(Buffer.from(copy.buffer));
  freeChunk(copy);
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

/** All colours since the last reset. */
function coloursOf(skipped: Buffer): string {
  const reset = Math.max(0, skipped.lastIndexOf("\x1b[0m"), skipped.lastIndexOf("\x1b[m"));
  return (latin1(skipped.subarray(reset)).match(colour) ?? []).join("");
}
