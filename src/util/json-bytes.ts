// Escapes UTF-8 for the inside of a JSON string, from bytes to bytes. Through strings (decode, JSON.stringify, encode) it
// takes three times as long and leaves three copies for the garbage collector.

const backslash = 0x5c;
/** What follows the backslash of an escaped byte; "u" for the long form; 0 for a byte that is not escaped. */
const escapes = new Uint8Array(256);
escapes.fill("u".charCodeAt(0), 0, 0x20);
for (const [byte, letter] of [
  [0x08, "b"],
  [0x09, "t"],
  [0x0a, "n"],
  [0x0c, "f"],
  [0x0d, "r"],
  [0x22, '"'],
  [0x5c, "\\"],
] as const) {
  escapes[byte] = letter.charCodeAt(0);
}
const hexDigits = new TextEncoder().encode("0123456789abcdef");

/** Length of the longest escape of one byte. */
export const escapedBytesMax = 6;

/** Writes valid UTF-8 as JSON into `target` from `at`; returns where it ends. */
export function escapeInto(target: Uint8Array, at: number, text: Uint8Array): number {
  const from = new DataView(text.buffer, text.byteOffset, text.byteLength);
  const to = new DataView(target.buffer, target.byteOffset, target.byteLength);
  let out = at;
  let i = 0;
  // Four bytes at a time, for as long as none of them is below 0x20, a quote or a backslash.
  while (i <= text.length - 4) {
    const four = from.getInt32(i, true);
    const quote = four ^ 0x22222222;
    const slash = four ^ 0x5c5c5c5c;
    const low = (four - 0x20202020) & ~four;
    const special = low | ((quote - 0x01010101) & ~quote) | ((slash - 0x01010101) & ~slash);
    if ((special & 0x80808080) === 0) {
      to.setInt32(out, four, true);
      out += 4;
      i += 4;
    } else {
      for (const end = i + 4; i < end; i++) out = escapeByte(target, out, text[i]!);
    }
  }
  for (; i < text.length; i++) out = escapeByte(target, out, text[i]!);
  return out;
}

function escapeByte(target: Uint8Array, at: number, byte: number): number {
  const letter = escapes[byte]!;
  if (letter === 0) {
    target[at] = byte;
    return at + 1;
  }
  target[at] = backslash;
  target[at + 1] = letter;
  if (letter !== 0x75) return at + 2;
  target[at + 2] = 0x30;
  target[at + 3] = 0x30;
  target[at + 4] = hexDigits[byte >> 4]!;
  target[at + 5] = hexDigits[byte & 15]!;
  return at + 6;
}
