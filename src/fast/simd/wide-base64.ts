// Encodes bytes as base64, twelve at a time. The engine's own function makes a string, which is copied again and left to
// the garbage collector: during a flood that is more memory than everything else.
import { base64Into, base64Length } from "../../util/byte-encoder.ts";
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

/** A multiple of the step. A step encodes twelve of the sixteen bytes that it reads. */
const pieceBytes = 48 * 1024;
const stepBytes = 12;
const overrunBytes = 16;
const resultAt = pieceBytes + overrunBytes;

const { source, end, target, vector: sixteen } = locals;

/** Moves each six bits of three bytes, which are shuffled to b1 b0 b2 b1, to a byte of their own. */
const sixBits = (shift: number[], count: number, mask: number) =>
  [get(sixteen), constant(count), shift, vector.ofWord(mask), vector.and].flat();
const lowest = (text: string, index: number) => (text.charCodeAt(0) - index) & 255;
/** What is added to a six-bit number for its character, by its range: the number beyond 51, or 13 for A to Z. */
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

/** Undefined where WebAssembly has no vector instructions. */
export function wideBase64(): typeof base64Into | undefined {
  const wide = assemble(program, memoryBytes);
  if (!wide) return undefined;
  return (target, at, bytes) => {
    const wideBytes = bytes.length - (bytes.length % stepBytes);
    let out = at;
    for (let from = 0; from < wideBytes; from += pieceBytes) {
      const piece = bytes.subarray(from, Math.min(from + pieceBytes, wideBytes));
      wide.bytes.set(piece, 0);
      const resultEnd = wide.run(0, piece.length, resultAt);
      target.set(wide.bytes.subarray(resultAt, resultEnd), out);
      out += resultEnd - resultAt;
    }
    return base64Into(target, out, bytes.subarray(wideBytes));
  };
}
