// Assembles WebAssembly functions that use vector instructions. Each has a memory of its own, takes the offsets of the
// begin and end of its text and of the result, and returns the offset of the result's end.

// Opcodes of the WebAssembly specification.
const i32 = 0x7f;
const v128 = 0x7b;
export const blocks = { block: [0x02, 0x40], loop: [0x03, 0x40], if: [0x04, 0x40], end: [0x0b] };
export const branch = (depth: number) => [0x0c, depth];
export const branchIf = (depth: number) => [0x0d, depth];
export const get = (local: number) => [0x20, local];
export const set = (local: number) => [0x21, local];
export const tee = (local: number) => [0x22, local];
/** Numbers of 0 to 63 are one byte. */
export const constant = (number: number) => [0x41, number];
export const isZero = [0x45];
export const isGreater = [0x4b];
export const isNotLess = [0x4f];
export const trailingZeros = [0x68];
export const onesCount = [0x69];
export const add = [0x6a];
export const shiftLeft = [0x74];
export const loadByte = (offset: number) => [0x2d, 0, offset];
export const loadEight = [0x29, 0, 0];
export const storeEight = [0x37, 0, 0];
const simd = (...code: number[]) => [0xfd, ...code];
const vectorOf = (bytes: number[]) => simd(0x0c, ...bytes);
export const vector = {
  load: simd(0x00, 0, 0),
  store: simd(0x0b, 0, 0),
  ofByte: (byte: number) => vectorOf(new Array<number>(16).fill(byte)),
  areEqual: simd(0x23),
  areLess: simd(0x26),
  or: simd(0x50),
  signs: simd(0x64),
};

/** The function's three arguments and its local variables. */
export const locals = { source: 0, end: 1, target: 2, first: 3, second: 4, vector: 5 } as const;

export const advance = (local: number, by: number[]) => [...get(local), ...by, ...add, ...set(local)];

export interface VectorFunction {
  bytes: Uint8Array<ArrayBuffer>;
  run(source: number, end: number, target: number): number;
}

/** Undefined where WebAssembly has no vector instructions. */
export function assemble(program: number[], memoryBytes: number): VectorFunction | undefined {
  const pages = size(Math.ceil(memoryBytes / pageBytes));
  const variables = [2, 2, i32, 1, v128];
  const code = new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...[1, ...sized([1, 0x60, 3, i32, i32, i32, 1, i32])], // one type
    ...[3, ...sized([1, 0])], // one function of that type
    ...[5, ...sized([1, 0, ...pages])], // one memory
    ...[7, ...sized([2, ...name("memory"), 2, 0, ...name("run"), 0, 0])], // both are exported
    ...[10, ...sized([1, ...sized([...variables, ...program, ...blocks.end])])],
  ]);
  if (!WebAssembly.validate(code)) return undefined;
  const { memory, run } = new WebAssembly.Instance(new WebAssembly.Module(code))
    .exports as unknown as Exports;
  return { bytes: new Uint8Array(memory.buffer as ArrayBuffer), run };
}

interface Exports extends Pick<VectorFunction, "run"> {
  memory: WebAssembly.Memory;
}

const pageBytes = 64 * 1024;
/** Unsigned LEB128. */
const size = (number: number): number[] =>
  number < 128 ? [number] : [(number & 127) | 128, ...size(number >> 7)];
const sized = (bytes: number[]) => [...size(bytes.length), ...bytes];
const name = (text: string) => sized([...new TextEncoder().encode(text)]);
