// Checks the code signature of a macOS executable, and the layout of the file as far as a signature depends on it.
// Shares no code and no constant with the signer, so that a mistake in one shows in the other: all offsets here are read
// off mach-o/loader.h and osfmk/kern/cs_blobs.h once more.
import { createHash } from "node:crypto";

export interface Inspection {
  /** Where the file differs from what `codesign` makes and the kernel checks; none for a valid one. */
  problems: string[];
  pages: number;
  wrongPages: number;
  /** How many bytes from the start of the file the signature covers. */
  codeLimit: number;
  /** Bytes of the file that are neither covered nor the signature itself. */
  uncoveredBytes: number;
  identifier: string;
  flags: number;
  /** Of the XML form. */
  entitlements: string[];
}

interface Segment {
  name: string;
  address: number;
  memory: number;
  offset: number;
  bytes: number;
}

interface Layout {
  segments: Segment[];
  /** Ranges that load commands name in __LINKEDIT, but for the signature. */
  tables: { what: string; from: number; to: number }[];
  signature: { from: number; to: number } | undefined;
  kernelPage: number;
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
const sha256 = (data: Uint8Array): string => createHash("sha256").update(data).digest("hex");

export function inspectSignature(bytes: Uint8Array): Inspection {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const empty = { pages: 0, wrongPages: 0, codeLimit: 0, identifier: "", flags: 0, entitlements: [] };
  const unsigned = { ...empty, uncoveredBytes: file.length };
  const problems: string[] = [];
  try {
    const layout = readLayout(file);
    checkLayout(layout, file.length, problems);
    if (!layout.signature) return { ...unsigned, problems: [...problems, "there is no signature"] };
    return inspectBlobs(file, layout, layout.signature, problems);
  } catch (error) {
    return { ...unsigned, problems: [...problems, `cannot be read: ${(error as Error).message}`] };
  }
}

/** Commands whose data is a range of __LINKEDIT, struct linkedit_data_command. */
const linkeditTables: Record<number, string> = {
  30: "LC_SEGMENT_SPLIT_INFO",
  38: "LC_FUNCTION_STARTS",
  41: "LC_DATA_IN_CODE",
  43: "LC_DYLIB_CODE_SIGN_DRS",
  46: "LC_LINKER_OPTIMIZATION_HINT",
  2147483699: "LC_DYLD_EXPORTS_TRIE",
  2147483700: "LC_DYLD_CHAINED_FIXUPS",
};

function readLayout(file: Buffer): Layout {
  if (file.readUInt32LE(0) !== 0xfeedfacf) throw new Error("it is not a thin 64-bit Mach-O file");
  const kernelPage = file.readUInt32LE(4) === 0x0100000c ? 16384 : 4096;
  const layout: Layout = { segments: [], tables: [], signature: undefined, kernelPage };
  for (let i = 0, at = 32; i < file.readUInt32LE(16); i++, at += file.readUInt32LE(at + 4)) {
    const kind = file.readUInt32LE(at);
    if (file.readUInt32LE(at + 4) < 8) throw new Error(`load command ${i} has no size`);
    const [first, second, third, fourth] = [8, 12, 16, 20].map((field) => file.readUInt32LE(at + field)) as [
      number,
      number,
      number,
      number,
    ];
    const table = linkeditTables[kind];
    if (kind === 0x1d) layout.signature = { from: first, to: first + second };
    else if (table) layout.tables.push({ what: table, from: first, to: first + second });
    else if (kind === 0x19) layout.segments.push(readSegment(file, at));
    else if (kind === 0x2) {
      // struct symtab_command; an entry (struct nlist_64) has 16 bytes
      layout.tables.push({ what: "the symbols", from: first, to: first + second * 16 });
      layout.tables.push({ what: "their names", from: third, to: third + fourth });
    } else if (kind === 0xb) {
      const from = file.readUInt32LE(at + 56); // indirectsymoff of struct dysymtab_command
      layout.tables.push({ what: "indirect symbols", from, to: from + file.readUInt32LE(at + 60) * 4 });
    }
  }
  return layout;
}

function readSegment(file: Buffer, at: number): Segment {
  const [address, memory, offset, bytes] = [24, 32, 40, 48].map((field) =>
    Number(file.readBigUInt64LE(at + field)),
  ) as [number, number, number, number];
  return { name: file.toString("latin1", at + 8, at + 24).split("\0")[0]!, address, memory, offset, bytes };
}

function checkLayout(
  { segments, tables, signature, kernelPage }: Layout,
  fileBytes: number,
  problems: string[],
) {
  const last = segments.at(-1);
  if (last?.name !== "__LINKEDIT") problems.push("__LINKEDIT is not the last segment");
  let fileEnd = 0;
  for (const [i, { name, address, memory, offset, bytes }] of segments.entries()) {
    const before = segments[i - 1];
    if (address % kernelPage !== 0 || (bytes > 0 && offset % kernelPage !== 0))
      problems.push(`${name} is not aligned to pages`);
    if (bytes > memory) problems.push(`${name} is larger in the file than in memory`);
    if (before && address < before.address + before.memory)
      problems.push(`${name} overlaps ${before.name} in memory`);
    if (bytes > 0 && offset < fileEnd) problems.push(`${name} overlaps another segment in the file`);
    if (bytes > 0) fileEnd = offset + bytes;
  }
  if (!last || !signature) return;
  if (last.memory % kernelPage !== 0)
    problems.push("the size of __LINKEDIT in memory is not a multiple of a page");
  if (last.offset + last.bytes !== fileBytes) problems.push("__LINKEDIT does not end with the file");
  if (signature.from < last.offset || signature.to !== last.offset + last.bytes)
    problems.push("the signature is not at the end of __LINKEDIT");
  if (signature.from % 16 !== 0) problems.push("the signature is not aligned to 16 bytes");
  for (const { what, from, to } of tables)
    if (to > from && (from < last.offset || to > signature.from))
      problems.push(`${what} are not within __LINKEDIT and before the signature`);
}

interface Blob {
  slot: number;
  magic: number;
  /** With its magic number and length, as it is hashed. */
  data: Buffer;
}

/** The magic numbers that slots must have. */
const magicOf: Record<number, number> = {
  0: 0xfade0c02,
  2: 0xfade0c01,
  5: 0xfade7171,
  7: 0xfade7172,
  65536: 0xfade0b01,
};

function readBlobs(file: Buffer, { from, to }: { from: number; to: number }, problems: string[]): Blob[] {
  const region = file.subarray(from, to);
  const length = region.readUInt32BE(4);
  if (region.readUInt32BE(0) !== 0xfade0cc0) throw new Error("the signature does not begin with a SuperBlob");
  if (length > region.length) throw new Error("the SuperBlob is longer than LC_CODE_SIGNATURE says");
  const count = region.readUInt32BE(8);
  let end = 12 + count * 8;
  if (end > length) throw new Error(`the SuperBlob is too short for an index of ${count} blobs`);
  return Array.from({ length: count }, (_, i) => {
    const slot = region.readUInt32BE(12 + i * 8);
    const at = region.readUInt32BE(16 + i * 8);
    const magic = region.readUInt32BE(at);
    const data = region.subarray(at, at + region.readUInt32BE(at + 4));
    if (at < end || at + region.readUInt32BE(at + 4) > length) problems.push(`blob ${slot} overlaps another`);
    if (magicOf[slot] !== magic) problems.push(`blob ${slot} has the magic number 0x${magic.toString(16)}`);
    end = at + data.length;
    return { slot, magic, data };
  });
}

function inspectBlobs(
  file: Buffer,
  layout: Layout,
  signature: { from: number; to: number },
  problems: string[],
): Inspection {
  const blobs = readBlobs(file, signature, problems);
  const directory = blobs.find(({ slot }) => slot === 0)?.data;
  if (!directory) throw new Error("there is no CodeDirectory");
  const flags = directory.readUInt32BE(12);
  const codeLimit = directory.readUInt32BE(32);
  const text = layout.segments.find(({ name }) => name === "__TEXT");
  if (directory.readUInt32BE(8) < 0x20400) problems.push("the CodeDirectory is older than version 0x20400");
  if ((flags & 0x2) === 0 && blobs.every(({ slot, data }) => slot !== 0x10000 || data.length <= 8))
    problems.push("the signature is neither ad hoc nor by a certificate");
  if (codeLimit !== signature.from)
    problems.push(`the signature covers ${codeLimit} of ${signature.from} bytes`);
  if (
    Number(directory.readBigUInt64BE(64)) !== text?.offset ||
    Number(directory.readBigUInt64BE(72)) !== text.bytes
  )
    problems.push("the executable segment is not __TEXT");
  const unused = [38, ...range(40, 48), ...range(52, 64)];
  if (unused.some((at) => directory[at] !== 0))
    problems.push("a field of the CodeDirectory that must be 0 is not");
  if (directory.readBigUInt64BE(80) !== 1n)
    problems.push("the executable segment is not that of a main program");
  const pages = checkPages(file, directory, codeLimit, problems);
  checkSlots(directory, blobs, problems);
  const ident = directory.readUInt32BE(20);
  return {
    ...pages,
    problems,
    codeLimit,
    uncoveredBytes: Math.max(0, signature.from - codeLimit) + file.length - signature.to,
    identifier: directory.toString("utf8", ident, directory.indexOf(0, ident)),
    flags,
    entitlements: checkEntitlements(blobs, problems),
  };
}

function checkPages(file: Buffer, directory: Buffer, codeLimit: number, problems: string[]) {
  const hashOffset = directory.readUInt32BE(16);
  const pages = directory.readUInt32BE(28);
  const pageBytes = 2 ** directory.readUInt8(39);
  if (directory.readUInt8(36) !== 32 || directory.readUInt8(37) !== 2)
    throw new Error("its hashes are not SHA-256");
  if (pageBytes < 4096 || pageBytes > 16384) throw new Error(`a page of ${pageBytes} bytes is impossible`);
  if (hashOffset + pages * 32 > directory.length)
    throw new Error("the CodeDirectory is shorter than its hashes");
  if (pages !== Math.ceil(codeLimit / pageBytes))
    problems.push(`${pages} hashes do not cover ${codeLimit} bytes`);
  let wrongPages = 0;
  for (let page = 0; page < pages; page++) {
    const content = file.subarray(page * pageBytes, Math.min((page + 1) * pageBytes, codeLimit));
    const at = hashOffset + page * 32;
    if (sha256(content) !== directory.toString("hex", at, at + 32)) wrongPages++;
  }
  if (wrongPages > 0) problems.push(`${wrongPages} of ${pages} page hashes are wrong`);
  return { pages, wrongPages };
}

/** The hash of special slot n is n hashes before that of the first page; zeros stand for "there is none". */
function checkSlots(directory: Buffer, blobs: Blob[], problems: string[]): void {
  const hashOffset = directory.readUInt32BE(16);
  const count = directory.readUInt32BE(24);
  const none = "0".repeat(64);
  if (hashOffset < 88 + count * 32)
    throw new Error(`the CodeDirectory has no room for ${count} special slots`);
  for (let slot = 1; slot <= count; slot++) {
    const data = blobs.find((blob) => blob.slot === slot)?.data;
    const hash = directory.toString("hex", hashOffset - slot * 32, hashOffset - (slot - 1) * 32);
    if (hash !== (data ? sha256(data) : none)) problems.push(`the hash of special slot ${slot} is wrong`);
  }
  for (const { slot } of blobs)
    if (slot > count && slot < 0x1000) problems.push(`special slot ${slot} has no hash`);
}

/** Gives those that are granted. macOS 12 and newer read the DER form, older ones the XML form: both must agree. */
function checkEntitlements(blobs: Blob[], problems: string[]): string[] {
  const xml = blobs.find(({ slot }) => slot === 5)?.data.toString("utf8", 8) ?? "";
  const inXml = [...xml.matchAll(/<key>([^<]+)<\/key>\s*<true\/>/g)].map(([, name]) => name!);
  const der = blobs.find(({ slot }) => slot === 7)?.data.subarray(8);
  const inDer = der ? readDer(der) : [];
  if (inXml.toSorted().join() !== inDer.join()) problems.push("the two forms of the entitlements differ");
  return inXml;
}

/** Reads [APPLICATION 16] { INTEGER 1, [16] { SEQUENCE { UTF8String, BOOLEAN }, ... } }. */
function readDer(der: Buffer): string[] {
  const outer = elements(der);
  const [version, dictionary] = elements(outer[0]!.content);
  if (
    outer.length !== 1 ||
    outer[0]!.tag !== 0x70 ||
    version?.content.toString("hex") !== "01" ||
    dictionary?.tag !== 0xb0
  )
    throw new Error("the DER form of the entitlements is not a dictionary of version 1");
  return elements(dictionary.content).flatMap(({ content }) => {
    const [name, value] = elements(content);
    return value?.tag === 1 && value.content[0] === 0xff ? [name!.content.toString()] : [];
  });
}

function elements(der: Buffer): { tag: number; content: Buffer }[] {
  const found: { tag: number; content: Buffer }[] = [];
  for (let at = 0; at < der.length; ) {
    const first = der.readUInt8(at + 1);
    const sizeBytes = first < 0x80 ? 0 : first & 0x7f;
    const length = sizeBytes === 0 ? first : der.readUIntBE(at + 2, sizeBytes);
    const start = at + 2 + sizeBytes;
    if (start + length > der.length) throw new Error("the DER form of the entitlements is cut off");
    found.push({ tag: der.readUInt8(at), content: der.subarray(start, start + length) });
    at = start + length;
  }
  return found;
}
