// Text to the inside of a JSON string, sixteen bytes at a time: a few vector instructions as WebAssembly, put together
// here. On ordinary text it is three times as quick as the same in JavaScript, which a flood of output spends half of
// its time in.

/** What a byte becomes: up to six bytes, and how many they are. */
const entryBytes = 8;
const lengthAt = 7;
const tableBytes = 256 * entryBytes;
const pieceBytes = 64 * 1024;
const pieceAt = tableBytes;
const resultAt = pieceAt + pieceBytes;
/** A vector or an entry may be written across the end of what it is good for. */
const spareBytes = 16;
const pageBytes = 64 * 1024;

// Numbers of the WebAssembly specification.
const i32 = 0x7f;
const v128 = 0x7b;
const blocks = { block: [0x02, 0x40], loop: [0x03, 0x40], if: [0x04, 0x40], end: [0x0b] };
const branch = (depth: number) => [0x0c, depth];
const branchIf = (depth: number) => [0x0d, depth];
const get = (local: number) => [0x20, local];
const set = (local: number) => [0x21, local];
const tee = (local: number) => [0x22, local];
/** Numbers of 0 to 63 are one byte. */
const constant = (number: number) => [0x41, number];
const [isZero, isGreater, isNotLess, add, shiftLeft] = [[0x45], [0x4b], [0x4f], [0x6a], [0x74]];
const [trailingZeros, onesCount] = [[0x68], [0x69]];
const loadByte = (offset: number) => [0x2d, 0, offset];
const [loadEntry, storeEntry] = [
  [0x29, 0, 0],
  [0x37, 0, 0],
];
const vector = {
  load: [0xfd, 0x00, 0, 0],
  store: [0xfd, 0x0b, 0, 0],
  of: (byte: number) => [0xfd, 0x0c, ...new Array<number>(16).fill(byte)],
  isEqual: [0xfd, 0x23],
  isLess: [0xfd, 0x26],
  or: [0xfd, 0x50],
  signs: [0xfd, 0x64],
};

const [source, end, target, special, entry, sixteen] = [0, 1, 2, 3, 4, 5] as const;

const advance = (local: number, by: number[]) => [get(local), by, add, set(local)].flat();
const escapeByte = [
  [get(target), get(source), loadByte(0), constant(3), shiftLeft, tee(entry), loadEntry, storeEntry],
  advance(target, [...get(entry), ...loadByte(lengthAt)]),
  advance(source, constant(1)),
].flat(2);
const hasSixteenMore = [get(source), constant(16), add, get(end), isGreater].flat();

/** How many special bytes of sixteen are worth looking at each byte. */
const manySpecial = 4;

const program = [
  [blocks.block, blocks.loop, hasSixteenMore, branchIf(1)],
  [get(target), get(source), vector.load, tee(sixteen), vector.store],
  [get(sixteen), vector.of(0x20), vector.isLess],
  [get(sixteen), vector.of(0x22), vector.isEqual, vector.or],
  [get(sixteen), vector.of(0x5c), vector.isEqual, vector.or],
  [vector.signs, tee(special), isZero],
  [blocks.if, advance(source, constant(16)), advance(target, constant(16)), branch(1), blocks.end],
  [get(special), onesCount, constant(manySpecial), isNotLess],
  [blocks.if, ...new Array<number[]>(16).fill(escapeByte), branch(1), blocks.end],
  // Up to the first special byte all is well.
  [
    advance(source, [...get(special), ...trailingZeros]),
    advance(target, [...get(special), ...trailingZeros]),
  ],
  [escapeByte, branch(0), blocks.end, blocks.end],
  [blocks.block, blocks.loop, get(source), get(end), isNotLess, branchIf(1), escapeByte, branch(0)],
  [blocks.end, blocks.end, get(target), blocks.end],
].flat(2);

/** Unsigned LEB128. */
const size = (number: number): number[] =>
  number < 128 ? [number] : [(number & 127) | 128, ...size(number >> 7)];
const sized = (bytes: number[]) => [...size(bytes.length), ...bytes];
const name = (text: string) => sized([...new TextEncoder().encode(text)]);

function assemble(escapedBytesMax: number): Uint8Array<ArrayBuffer> {
  const pages = Math.ceil((resultAt + pieceBytes * escapedBytesMax + spareBytes) / pageBytes);
  const locals = [2, 2, i32, 1, v128];
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...[1, ...sized([1, 0x60, 3, i32, i32, i32, 1, i32])], // one type
    ...[3, ...sized([1, 0])], // one function of that type
    ...[5, ...sized([1, 0, ...size(pages)])], // one memory
    ...[7, ...sized([2, ...name("memory"), 2, 0, ...name("escapeText"), 0, 0])], // both for us to use
    ...[10, ...sized([1, ...sized([...locals, ...program])])],
  ]);
}

interface Exports {
  memory: WebAssembly.Memory;
  escapeText(source: number, end: number, target: number): number;
}

type Escape = (target: Uint8Array, at: number, text: Uint8Array) => number;

/** By the example of a function that does one byte; undefined where the machine has no vectors for WebAssembly. */
export function wideEscape(escapedBytesMax: number, escapeOne: Escape): Escape | undefined {
  const code = assemble(escapedBytesMax);
  if (!WebAssembly.validate(code)) return undefined;
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code));
  const { memory, escapeText } = exports as unknown as Exports;
  const bytes = new Uint8Array(memory.buffer);
  for (let byte = 0; byte < 256; byte++) {
    const escaped = bytes.subarray(byte * entryBytes, (byte + 1) * entryBytes);
    escaped[lengthAt] = escapeOne(escaped, 0, new Uint8Array([byte]));
  }
  return (target, at, text) => {
    let out = at;
    for (let from = 0; from < text.length; from += pieceBytes) {
      const piece = text.subarray(from, from + pieceBytes);
      bytes.set(piece, pieceAt);
      const resultEnd = escapeText(pieceAt, pieceAt + piece.length, resultAt);
      target.set(bytes.subarray(resultAt, resultEnd), out);
      out += resultEnd - resultAt;
    }
    return out;
  };
}
