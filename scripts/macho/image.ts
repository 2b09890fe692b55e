// Reads the layout of a thin 64-bit Mach-O executable, as far as a signature depends on it, and refuses each layout that
// no signature can make valid. Layouts are those of mach-o/loader.h and mach-o/fat.h (xnu, EXTERNAL_HEADERS/mach-o).

const magic64 = 0xfeedfacf;
/** What a file of another kind is, by its first four bytes, read as little-endian. */
const otherMagics: Record<number, string> = {
  4277009102: "a 32-bit Mach-O file",
  3472551422: "a big-endian 32-bit Mach-O file",
  3489328638: "a big-endian 64-bit Mach-O file",
  3199925962: "a universal file: extract each architecture with `lipo -thin` and sign it alone",
  3216703178: "a universal file: extract each architecture with `lipo -thin` and sign it alone",
  1179403647: "an ELF file",
};
const executableType = 2; // MH_EXECUTE

/** What the kernel maps at once, by CPU type: the size of a segment in memory is a multiple of it. */
const pageBytesOf: Record<number, number> = {
  16777223: 0x1000, // CPU_TYPE_X86_64
  16777228: 0x4000, // CPU_TYPE_ARM64
};

/** Offsets of the fields that are used here. */
export const header = { cputype: 4, filetype: 12, ncmds: 16, sizeofcmds: 20, bytes: 32 } as const;
export const command = { cmd: 0, cmdsize: 4, bytes: 8 } as const;
export const segment = {
  segname: 8,
  vmaddr: 24,
  vmsize: 32,
  fileoff: 40,
  filesize: 48,
  nsects: 64,
  bytes: 72,
} as const;
const section = { size: 40, offset: 48, bytes: 80 } as const;
/** linkedit_data_command, which LC_CODE_SIGNATURE is. */
export const linkeditData = { dataoff: 8, datasize: 12, bytes: 16 } as const;

const segmentCommand = 0x19; // LC_SEGMENT_64
export const codeSignatureCommand = 0x1d; // LC_CODE_SIGNATURE

interface Segment {
  name: string;
  /** Of its load command. */
  at: number;
  address: number;
  memoryBytes: number;
  offset: number;
  bytes: number;
}

export interface Image {
  pageBytes: number;
  text: Segment;
  linkedit: Segment;
  /** The end of the load commands. */
  commandsEnd: number;
  /** How many bytes of load commands can be added. */
  spareBytes: number;
  /** The signature that the file has already: its load command, and where its data begins. */
  signature?: { at: number; offset: number };
}

const refuse = (reason: string): never => {
  throw new Error(`cannot sign the file: ${reason}`);
};

export function readImage(file: Uint8Array): Image {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const pageBytes = checkHeader(view);
  const segments: Segment[] = [];
  const signatures: number[] = [];
  let firstSection = file.byteLength;
  const commandsEnd = header.bytes + view.getUint32(header.sizeofcmds, true);
  for (const { at, cmd, bytes } of loadCommands(view, commandsEnd)) {
    if (cmd === codeSignatureCommand) signatures.push(at);
    if (cmd !== segmentCommand) continue;
    segments.push(readSegment(view, at, bytes));
    firstSection = Math.min(firstSection, ...sectionOffsets(view, at, bytes));
  }
  checkSegments(segments, pageBytes);
  const text = segments.find(({ name }) => name === "__TEXT") ?? refuse("it has no __TEXT segment");
  const linkedit = segments.at(-1)!;
  const end = linkedit.offset + linkedit.bytes;
  if (file.byteLength < end) refuse(`it is truncated: ${file.byteLength} of ${end} bytes`);
  if (file.byteLength > end)
    refuse(`${file.byteLength - end} bytes lie past __LINKEDIT, which no signature can cover`);
  if (firstSection < commandsEnd) refuse("its load commands overlap a section");
  const image = {
    pageBytes,
    text,
    linkedit,
    commandsEnd,
    spareBytes: spareBytes(file, commandsEnd, firstSection),
  };
  if (signatures.length === 0) return image;
  return { ...image, signature: readSignature(view, signatures, linkedit) };
}

/** Gives the size of a page. */
function checkHeader(view: DataView): number {
  if (view.byteLength < header.bytes) refuse(`${view.byteLength} bytes are too few for a Mach-O file`);
  const magic = view.getUint32(0, true);
  if (magic !== magic64) refuse(`it is ${otherMagics[magic] ?? "not a Mach-O file"}`);
  const cpu = view.getUint32(header.cputype, true);
  const filetype = view.getUint32(header.filetype, true);
  if (filetype !== executableType) refuse(`it is not an executable, its Mach-O type is ${filetype}`);
  return pageBytesOf[cpu] ?? refuse(`its CPU type 0x${cpu.toString(16)} is neither x86_64 nor arm64`);
}

function* loadCommands(view: DataView, end: number): Generator<{ at: number; cmd: number; bytes: number }> {
  if (end > view.byteLength) refuse("it is truncated within its load commands");
  const count = view.getUint32(header.ncmds, true);
  let at: number = header.bytes;
  for (let i = 0; i < count; i++) {
    if (at + command.bytes > end) refuse(`its load commands end after ${i} of ${count}`);
    const bytes = view.getUint32(at + command.cmdsize, true);
    if (bytes < command.bytes || bytes % 8 !== 0 || at + bytes > end)
      refuse(`load command ${i} has an impossible size of ${bytes} bytes`);
    yield { at, cmd: view.getUint32(at + command.cmd, true), bytes };
    at += bytes;
  }
  if (at !== end) refuse(`its ${count} load commands have ${at - header.bytes} bytes, not sizeofcmds`);
}

function readSegment(view: DataView, at: number, commandBytes: number): Segment {
  if (commandBytes < segment.bytes) refuse("a segment's load command is too short");
  const field = (offset: number): number => {
    const value = view.getBigUint64(at + offset, true);
    return value <= BigInt(Number.MAX_SAFE_INTEGER)
      ? Number(value)
      : refuse("a segment has an impossible size");
  };
  const name = new Uint8Array(view.buffer, view.byteOffset + at + segment.segname, 16);
  return {
    name: new TextDecoder("latin1").decode(name).replace(/\0.*$/s, ""),
    at,
    address: field(segment.vmaddr),
    memoryBytes: field(segment.vmsize),
    offset: field(segment.fileoff),
    bytes: field(segment.filesize),
  };
}

/** Of sections with bytes in the file: zero-filled ones have the offset 0. */
function sectionOffsets(view: DataView, at: number, commandBytes: number): number[] {
  const count = view.getUint32(at + segment.nsects, true);
  if (segment.bytes + count * section.bytes > commandBytes) refuse("a segment's load command is too short");
  const sections = Array.from({ length: count }, (_, i) => at + segment.bytes + i * section.bytes);
  return sections
    .filter((start) => view.getBigUint64(start + section.size, true) > 0n)
    .map((start) => view.getUint32(start + section.offset, true))
    .filter((offset) => offset > 0);
}

/** The kernel and `codesign --strict` want segments in order, without overlaps, and __LINKEDIT as the last one. */
function checkSegments(segments: Segment[], pageBytes: number): void {
  if (segments.at(-1)?.name !== "__LINKEDIT") refuse("__LINKEDIT is not its last segment");
  let fileEnd = 0;
  let memoryEnd = 0;
  for (const { name, address, memoryBytes, offset, bytes } of segments) {
    if (bytes > memoryBytes) refuse(`segment ${name} has more bytes in the file than in memory`);
    if (address % pageBytes !== 0) refuse(`segment ${name} does not begin at a page of memory`);
    if (bytes > 0 && offset % pageBytes !== 0) refuse(`segment ${name} does not begin at a page of the file`);
    if (bytes > 0 && offset < fileEnd) refuse(`segment ${name} overlaps the one before it in the file`);
    if (address < memoryEnd) refuse(`segment ${name} overlaps the one before it in memory`);
    if (bytes > 0) fileEnd = offset + bytes;
    memoryEnd = address + memoryBytes;
  }
}

/** Bytes between load commands and sections; only zeros are padding. */
function spareBytes(file: Uint8Array, from: number, to: number): number {
  const used = file.subarray(from, to).findIndex((byte) => byte !== 0);
  return used === -1 ? to - from : used;
}

function readSignature(
  view: DataView,
  commands: number[],
  linkedit: Segment,
): { at: number; offset: number } {
  const [at] = commands as [number];
  if (commands.length > 1) refuse(`it has ${commands.length} signatures`);
  if (view.getUint32(at + command.cmdsize, true) !== linkeditData.bytes)
    refuse("the load command of its signature has another size than 16 bytes");
  const offset = view.getUint32(at + linkeditData.dataoff, true);
  const end = offset + view.getUint32(at + linkeditData.datasize, true);
  if (offset < linkedit.offset || end !== linkedit.offset + linkedit.bytes)
    refuse("its signature is not at the end of __LINKEDIT");
  return { at, offset };
}
