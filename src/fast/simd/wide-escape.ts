// Text to the inside of a JSON string, sixteen bytes at a time. On ordinary text it is three times as quick as the same
// in JavaScript, in which a flood of output spent half of its time.
import {
  add,
  advance,
  assemble,
  blocks,
  branch,
  branchIf,
  constant,
  get,
  isGreater,
  isNotLess,
  isZero,
  loadByte,
  loadEight,
  locals,
  onesCount,
  shiftLeft,
  storeEight,
  tee,
  trailingZeros,
  vector,
} from "./vector-code.ts";

/** What a byte becomes: up to six bytes, and how many they are. */
const entryBytes = 8;
const lengthAt = 7;
const pieceBytes = 64 * 1024;
const pieceAt = 256 * entryBytes;
const resultAt = pieceAt + pieceBytes;
/** A vector or an entry may be written across the end of what it is good for. */
const spareBytes = 16;

const { source, end, target, first: special, second: entry, vector: sixteen } = locals;

const escapeByte = [
  [get(target), get(source), loadByte(0), constant(3), shiftLeft, tee(entry), loadEight, storeEight],
  [advance(target, [...get(entry), ...loadByte(lengthAt)]), advance(source, constant(1))],
].flat(2);

/** How many special bytes of sixteen are worth looking at each byte. */
const manySpecial = 4;
const upToSpecial = [...get(special), ...trailingZeros];

const program = [
  [blocks.block, blocks.loop, get(source), constant(16), add, get(end), isGreater, branchIf(1)],
  [get(target), get(source), vector.load, tee(sixteen), vector.store],
  [get(sixteen), vector.ofByte(0x20), vector.areLess],
  [get(sixteen), vector.ofByte(0x22), vector.areEqual, vector.or],
  [get(sixteen), vector.ofByte(0x5c), vector.areEqual, vector.or],
  [vector.signs, tee(special), isZero],
  [blocks.if, advance(source, constant(16)), advance(target, constant(16)), branch(1), blocks.end],
  [get(special), onesCount, constant(manySpecial), isNotLess],
  [blocks.if, ...new Array<number[]>(16).fill(escapeByte), branch(1), blocks.end],
  [advance(source, upToSpecial), advance(target, upToSpecial), escapeByte, branch(0), blocks.end, blocks.end],
  [blocks.block, blocks.loop, get(source), get(end), isNotLess, branchIf(1), escapeByte, branch(0)],
  [blocks.end, blocks.end, get(target)],
].flat(2);

type Escape = (target: Uint8Array, at: number, text: Uint8Array) => number;

/** By the example of a function that does one byte; undefined where the machine has no vectors for WebAssembly. */
export function wideEscape(escapedBytesMax: number, escapeOne: Escape): Escape | undefined {
  const wide = assemble(program, resultAt + pieceBytes * escapedBytesMax + spareBytes);
  if (!wide) return undefined;
  for (let byte = 0; byte < 256; byte++) {
    const escaped = wide.bytes.subarray(byte * entryBytes, (byte + 1) * entryBytes);
    escaped[lengthAt] = escapeOne(escaped, 0, new Uint8Array([byte]));
  }
  return (target, at, text) => {
    let out = at;
    for (let from = 0; from < text.length; from += pieceBytes) {
      const piece = text.subarray(from, from + pieceBytes);
      wide.bytes.set(piece, pieceAt);
      const resultEnd = wide.run(pieceAt, pieceAt + piece.length, resultAt);
      target.set(wide.bytes.subarray(resultAt, resultEnd), out);
      out += resultEnd - resultAt;
    }
    return out;
  };
}
