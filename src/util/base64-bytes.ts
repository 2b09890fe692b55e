// Bytes to base64 as bytes. The engine's own way makes a string, which is copied once more and left for the garbage
// collector: in a flood that is more memory than all else together.
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
  locals,
  set,
  vector,
} from "./vector-code.ts";

/** A multiple of what is done at a time: twelve bytes, of sixteen that are read. */
const pieceBytes = 48 * 1024;
const stepBytes = 12;
const spareBytes = 16;
const resultAt = pieceBytes + spareBytes;
/** From here on it pays to hand the bytes over to the vector instructions. */
const wideMinBytes = 512;

export const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4;

const { source, end, target, vector: sixteen } = locals;

/** Of three bytes b0 b1 b2, as b1 b0 b2 b1, the four times six bits to bytes of their own. */
const sixBits = (shift: number[], count: number, mask: number) =>
  [get(sixteen), constant(count), shift, vector.ofWord(mask), vector.and].flat();
const lowest = (text: string, index: number) => (text.charCodeAt(0) - index) & 255;
/** What is to be added to a number for its letter: by its range, which is the number beyond 51, or 13 for A to Z. */
const distances = [
  lowest("a", 26),
  ...new Array<number>(10).fill(lowest("0", 52)),
  lowest("+", 62),
  lowest("/", 63),
  lowest("A", 0),
  ...[0, 0],
];

const program = [
  [blocks.block, blocks.loop, get(source), constant(stepBytes), add, get(end), isGreater, branchIf(1)],
  [get(source), vector.load, vector.of([1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10]), vector.pick],
  [set(sixteen)],
  [sixBits(vector.wordsRight, 10, 0x3f), sixBits(vector.wordsLeft, 4, 0x3f00), vector.or],
  [sixBits(vector.wordsRight, 6, 0x3f_0000), vector.or],
  [sixBits(vector.wordsLeft, 8, 0x3f00_0000), vector.or, set(sixteen)],
  [get(target), vector.of(distances)],
  [get(sixteen), vector.ofByte(51), vector.subtractToZero],
  [get(sixteen), vector.ofByte(26), vector.areLess, vector.ofByte(13), vector.and, vector.or],
  [vector.pick, get(sixteen), vector.addBytes, vector.store],
  [advance(source, constant(stepBytes)), advance(target, constant(16)), branch(0)],
  [blocks.end, blocks.end, get(target)],
].flat(2);

const memoryBytes = resultAt + base64Length(pieceBytes);
let wide: ReturnType<typeof assemble> | null;

/** Writes `bytes` into `target` from `at`; returns where it ends. */
export function base64Into(target: Buffer, at: number, bytes: Uint8Array): number {
  const wideBytes = bytes.length < wideMinBytes ? 0 : bytes.length - (bytes.length % stepBytes);
  if (wideBytes > 0) wide ??= assemble(program, memoryBytes) ?? null;
  if (wideBytes === 0 || !wide) return at + target.write(asText(bytes), at, "latin1");
  let out = at;
  for (let from = 0; from < wideBytes; from += pieceBytes) {
    const piece = bytes.subarray(from, Math.min(from + pieceBytes, wideBytes));
    wide.bytes.set(piece, 0);
    const resultEnd = wide.run(0, piece.length, resultAt);
    target.set(wide.bytes.subarray(resultAt, resultEnd), out);
    out += resultEnd - resultAt;
  }
  return out + target.write(asText(bytes.subarray(wideBytes)), out, "latin1");
}

const asText = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
