// Estimates the cost of JSON.parse by a scan of the bytes. A line of 16 MiB takes 10 ms as one string, and seconds as
// millions of brackets, numbers or names, which would block all other clients. Measured: at most 0.6 us for each of
// these, 10 ns for each escape.
import { TrlError } from "./errors.ts";

/** Fields, list entries and brackets of one line: about 30 ms. */
export const jsonPartsMax = 50_000;
/** Escapes in its strings: about 40 ms. Text has one for every ten to forty characters. */
export const jsonEscapesMax = 4_000_000;
/** Digits in a row: the parser takes a second for about 20 million. */
export const jsonDigitsMax = 1000;

const quote = 0x22;
const backslash = 0x5c;
/** Kind of each byte: 1 begins a string, 2 is a part, 3 is a digit, 0 is anything else. */
const kinds = new Uint8Array(256);
kinds[quote] = 1;
for (const part of new TextEncoder().encode(",:[{")) kinds[part] = 2;
for (const digit of new TextEncoder().encode("0123456789")) kinds[digit] = 3;

/** After so many plain characters, `indexOf` finds the end of a string faster than the loop. */
const plainRun = 512;

/** Throws REQUEST_TOO_LARGE if parsing the line would block other clients. */
export function refuseCostly(line: Uint8Array): void {
  if (line.length <= jsonPartsMax) return; // each part takes at least one byte
  let parts = 0;
  let escapes = 0;
  const end = { at: 0, escapes: 0 }; // one object for all strings of the line: there may be thousands
  for (let at = 0; at < line.length; at++) {
    const kind = kinds[line[at]!];
    if (kind === 0) continue;
    if (kind === 1) {
      endOfString(line, at + 1, end);
      at = end.at;
      escapes += end.escapes;
      if (escapes > jsonEscapesMax) throw tooManyEscapes();
    } else if (kind === 3) {
      at = endOfDigits(line, at) - 1;
    } else if (++parts > jsonPartsMax) throw tooManyParts();
  }
}

interface StringEnd {
  at: number;
  escapes: number;
}

function endOfDigits(line: Uint8Array, from: number): number {
  let at = from;
  while (at < line.length && kinds[line[at]!] === 3) at++;
  if (at - from > jsonDigitsMax) throw tooManyDigits();
  return at;
}

/** Writes to `end`. */
function endOfString(line: Uint8Array, from: number, end: StringEnd): void {
  const { length } = line;
  let escapes = 0;
  let run = 0;
  /** The next quote; searched once, because a search after each escape would be quadratic. */
  let nextQuote = -1;
  let at = from;
  for (; at < length; at++) {
    const byte = line[at];
    if (byte === quote) break;
    if (byte === backslash) {
      escapes++;
      at++;
      run = 0;
    } else if (++run > plainRun) {
      if (nextQuote < at) nextQuote = indexOrEnd(line.indexOf(quote, at), length);
      at = indexOrEnd(line.subarray(at, nextQuote).indexOf(backslash), nextQuote - at) + at - 1;
      run = 0;
    }
  }
  end.at = at;
  end.escapes = escapes;
}

const indexOrEnd = (index: number, last: number): number => (index === -1 ? last : index);

const tooManyParts = () =>
  new TrlError(
    "REQUEST_TOO_LARGE",
    `the line has more than ${jsonPartsMax} fields and list entries; make several requests of it`,
  );

const tooManyDigits = () =>
  new TrlError(
    "REQUEST_TOO_LARGE",
    `a number of the line has more than ${jsonDigitsMax} digits in a row; send it as a string`,
  );

const tooManyEscapes = () =>
  new TrlError(
    "REQUEST_TOO_LARGE",
    `the strings of the line have more than ${jsonEscapesMax} escapes; send the data as base64, or in several requests`,
  );
