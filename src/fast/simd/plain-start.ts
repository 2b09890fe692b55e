// How much of the beginning of some output is text, line ends and tabs and nothing else, sixteen bytes at a time: what
// most of a flood is. To look at it by a regular expression took a third of what the daemon does with a flood.
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
  tee,
  type VectorFunction,
  vector,
} from "./vector-code.ts";

const pieceBytes = 64 * 1024;
const { source, end, vector: sixteen } = locals;
const equal = (byte: number) => [...get(sixteen), ...vector.ofByte(byte), ...vector.areEqual];

const program = [
  [blocks.block, blocks.loop, get(source), constant(16), add, get(end), isGreater, branchIf(1)],
  [get(source), vector.load, tee(sixteen), vector.ofByte(0x20), vector.areLess],
  [equal(0x09), equal(0x0a), vector.or, equal(0x0d), vector.or, vector.andNot],
  // DEL, and what C1 controls begin with in UTF-8.
  [equal(0x7f), vector.or, equal(0xc2), vector.or, vector.signs, branchIf(1)],
  [advance(source, constant(16)), branch(0), blocks.end, blocks.end, get(source)],
].flat(2);

let scanner: VectorFunction | undefined;
let isMade = false;

/** A multiple of sixteen; the rest may be plain, too. Nothing where the machine has no vectors for WebAssembly. */
export function plainStart(bytes: Uint8Array): number {
  if (!isMade) scanner = assemble(program, pieceBytes);
  isMade = true;
  if (!scanner) return 0;
  let at = 0;
  while (bytes.length - at >= 16) {
    const piece = at === 0 && bytes.length <= pieceBytes ? bytes : bytes.subarray(at, at + pieceBytes);
    scanner.bytes.set(piece);
    const plain = scanner.run(0, piece.length, 0);
    at += plain;
    if (plain < pieceBytes) break;
  }
  return at;
}
