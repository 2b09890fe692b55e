// Finds how much of the beginning of some output is only text, line ends and tabs, sixteen bytes at a time. A regular
// expression for it took a third of the daemon's time in a flood.
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
  // DEL, and the first byte of C1 controls in UTF-8.
  [equal(0x7f), vector.or, equal(0xc2), vector.or, vector.signs, branchIf(1)],
  [advance(source, constant(16)), branch(0), blocks.end, blocks.end, get(source)],
].flat(2);

export class PlainTextScanner {
  /** Assembled at the first use; null where WebAssembly has no vector instructions. */
  #code: VectorFunction | null | undefined;

  /** A multiple of sixteen; the rest may be plain, too. 0 where WebAssembly has no vector instructions. */
  plainStart(bytes: Uint8Array): number {
    if (this.#code === undefined) this.#code = assemble(program, pieceBytes) ?? null;
    const code = this.#code;
    if (!code) return 0;
    let at = 0;
    while (bytes.length - at >= 16) {
      const piece = at === 0 && bytes.length <= pieceBytes ? bytes : bytes.subarray(at, at + pieceBytes);
      code.bytes.set(piece);
      const plain = code.run(0, piece.length, 0);
      at += plain;
      if (plain < pieceBytes) break;
    }
    return at;
  }
}
