// Copies and conversions of a few bytes, such as a keystroke and its echo, as plain loops. The engine's own functions are
// optimised for many bytes: even for one byte they run hundreds of instructions, which after a pause are no longer in the
// processor's cache. That was a third of the latency of a keystroke.

/** Beyond this the engine's own functions are faster. */
export const fewBytesMax = 32;

const asciiMax = 0x7f;

/** Undefined if the text is longer than `fewBytesMax` or not ASCII. */
export function fewOfText(text: string): Uint8Array<ArrayBuffer> | undefined {
  const { length } = text;
  if (length > fewBytesMax) return undefined;
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code > asciiMax) return undefined;
    bytes[i] = code;
  }
  return bytes;
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const codes = Uint8Array.from(digits, (digit) => digit.charCodeAt(0));
const padding = 0x3d;
const noDigit = 64;
const values = new Uint8Array(128).fill(noDigit);
for (const [value, code] of codes.entries()) values[code] = value;

/** Undefined if the text is longer than `fewBytesMax`, or is not base64 with complete padding. */
export function fewOfBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const { length } = text;
  if (length === 0 || length % 4 !== 0 || length > fewBytesMax) return undefined;
  let padded = 0;
  while (padded < 2 && text.charCodeAt(length - 1 - padded) === padding) padded++;
  const bytes = new Uint8Array((length / 4) * 3 - padded);
  let word = 0;
  let at = 0;
  for (let i = 0; i < length; i++) {
    const isPadding = i >= length - padded;
    const value = isPadding ? 0 : (values[text.charCodeAt(i)] ?? noDigit);
    if (value === noDigit) return undefined;
    word = (word << 6) | value;
    if (i % 4 < 3) continue;
    bytes[at++] = word >> 16;
    if (at < bytes.length) bytes[at++] = word >> 8;
    if (at < bytes.length) bytes[at++] = word;
    word = 0;
  }
  return bytes;
}

/** Writes the base64 of `from` into `target` from `at` on; returns the end offset. */
export function fewToBase64(target: Uint8Array, at: number, from: Uint8Array): number {
  const { length } = from;
  let end = at;
  for (let i = 0; i < length; i += 3) {
    const left = length - i;
    const word = (from[i]! << 16) | ((left > 1 ? from[i + 1]! : 0) << 8) | (left > 2 ? from[i + 2]! : 0);
    target[end++] = codes[word >> 18]!;
    target[end++] = codes[(word >> 12) & 63]!;
    target[end++] = left > 1 ? codes[(word >> 6) & 63]! : padding;
    target[end++] = left > 2 ? codes[word & 63]! : padding;
  }
  return end;
}

/** Copies `from` into `target` from `at` on; returns the end offset. */
export function fewInto(target: Uint8Array, at: number, from: Uint8Array): number {
  const { length } = from;
  for (let i = 0; i < length; i++) target[at + i] = from[i]!;
  return at + length;
}

/** A copy of the bytes from `start` to `end` if they are few, otherwise a view of them. */
export function fewOrView(
  bytes: Uint8Array<ArrayBuffer>,
  start: number,
  end: number,
): Uint8Array<ArrayBuffer> {
  const length = end - start;
  if (length > fewBytesMax) return bytes.subarray(start, end);
  const few = new Uint8Array(length);
  for (let i = 0; i < length; i++) few[i] = bytes[start + i]!;
  return few;
}

/** Whether the bytes include that byte. */
export function fewHave(bytes: Uint8Array, byte: number): boolean {
  const { length } = bytes;
  if (length > fewBytesMax) return bytes.includes(byte);
  for (let i = 0; i < length; i++) if (bytes[i] === byte) return true;
  return false;
}

const zero = 0x30;

/** The number of decimal digits of a number that is not negative. */
export function digitsOf(number: number): number {
  let count = 1;
  for (let bound = 10; number >= bound; bound *= 10) count++;
  return count;
}

/** Writes the decimal digits of the number, the last one before `end`. */
export function digitsInto(target: Uint8Array, end: number, number: number): void {
  let at = end;
  let left = number;
  do {
    const tenth = Math.floor(left / 10);
    target[--at] = zero + (left - tenth * 10);
    left = tenth;
  } while (left > 0);
}
