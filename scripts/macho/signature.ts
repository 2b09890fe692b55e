// Makes the data of an ad hoc code signature: one SuperBlob of blobs, among them the CodeDirectory with a hash of each
// page. Layouts are those of xnu, osfmk/kern/cs_blobs.h; all integers are big-endian. Ad hoc means that no certificate
// is involved: the signature shows that the file is unchanged, not where it comes from.
import { createHash } from "node:crypto";

const magics = {
  requirements: 0xfade0c01,
  codeDirectory: 0xfade0c02,
  superBlob: 0xfade0cc0,
  entitlements: 0xfade7171,
  derEntitlements: 0xfade7172,
  cms: 0xfade0b01,
} as const;

/** CSSLOT_*: the type of a blob in the index. Slots 1 to 7 have hashes in the CodeDirectory, counted backwards. */
const slots = {
  codeDirectory: 0,
  requirements: 2,
  entitlements: 5,
  derEntitlements: 7,
  cms: 0x10000,
} as const;
const specialSlots = 7;
const hashBytes = 32;
const hashSha256 = 2; // CS_HASHTYPE_SHA256

/**
 * Hashed at once. Kernels accept 4 KiB up to their own page, which is 4 KiB on Intel and 16 KiB on Apple silicon, so that
 * 4 KiB suits both.
 */
const pageShift = 12;
const pageBytes = 1 << pageShift;

/**
 * Without CS_RUNTIME (the hardened runtime), which only notarisation asks for: under it a process may not have writable
 * and executable memory unless its entitlements allow it, and every other process may, on Intel anywhere and on Apple
 * silicon by MAP_JIT. The entitlements are there all the same, so that `codesign --preserve-metadata=entitlements
 * --options runtime` with a developer's certificate keeps a working JIT. Nor CS_LINKER_SIGNED: such signatures have no
 * entitlements.
 */
const flagAdhoc = 0x2; // CS_ADHOC
const execSegMainBinary = 0x1n; // CS_EXECSEG_MAIN_BINARY

/** CS_CodeDirectory of version 0x20400 (CS_SUPPORTSEXECSEG), in order, with the bytes of each field. */
const codeDirectoryLayout = [
  ["magic", 4],
  ["length", 4],
  ["version", 4],
  ["flags", 4],
  ["hashOffset", 4],
  ["identOffset", 4],
  ["nSpecialSlots", 4],
  ["nCodeSlots", 4],
  ["codeLimit", 4],
  ["hashSize", 1],
  ["hashType", 1],
  ["platform", 1],
  ["pageSize", 1],
  ["spare2", 4],
  ["scatterOffset", 4],
  ["teamOffset", 4],
  ["spare3", 4],
  ["codeLimit64", 8],
  ["execSegBase", 8],
  ["execSegLimit", 8],
  ["execSegFlags", 8],
] as const;
const codeDirectoryBytes = codeDirectoryLayout.reduce((sum, [, bytes]) => sum + bytes, 0);
type CodeDirectoryField = (typeof codeDirectoryLayout)[number][0];

export interface Identity {
  /** The name of the program in the signature. */
  identifier: string;
  /** Names of entitlements that are granted. */
  entitlements: readonly string[];
}

const sha256 = (data: Uint8Array): Buffer => createHash("sha256").update(data).digest();

function blob(magic: number, ...parts: Uint8Array[]): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(magic, 0);
  head.writeUInt32BE(8 + parts.reduce((sum, { byteLength }) => sum + byteLength, 0), 4);
  return Buffer.concat([head, ...parts]);
}

/** The blobs beside the CodeDirectory, by their slot, as `codesign --sign -` writes them. */
function otherBlobs({ entitlements }: Identity): [slot: number, data: Buffer][] {
  return [
    [slots.requirements, blob(magics.requirements, Buffer.alloc(4))], // none
    [slots.entitlements, blob(magics.entitlements, entitlementsXml(entitlements))],
    [slots.derEntitlements, blob(magics.derEntitlements, entitlementsDer(entitlements))],
    [slots.cms, blob(magics.cms)], // empty: nothing is signed by a certificate
  ];
}

function entitlementsXml(names: readonly string[]): Buffer {
  const rows = names.map((name) => `    <key>${name}</key>\n    <true/>\n`);
  return Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?>\n` +
      `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n` +
      `<plist version="1.0">\n<dict>\n${rows.join("")}</dict>\n</plist>`,
  );
}

/** ASN.1: [APPLICATION 16] { INTEGER 1, [16] { SEQUENCE { UTF8String name, BOOLEAN TRUE }, ... } }, sorted by name. */
function entitlementsDer(names: readonly string[]): Buffer {
  const value = (tag: number, ...parts: Uint8Array[]) => {
    const content = Buffer.concat(parts);
    const { length } = content;
    const size =
      length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
    return Buffer.concat([Buffer.from([tag, ...size]), content]);
  };
  const granted = value(0x01, Buffer.from([0xff]));
  const rows = names.toSorted().map((name) => value(0x30, value(0x0c, Buffer.from(name)), granted));
  return value(0x70, value(0x02, Buffer.from([1])), value(0xb0, ...rows));
}

const identBytes = ({ identifier }: Identity): Buffer => Buffer.from(`${identifier}\0`);
const superBlobHeadBytes = (count: number): number => 12 + count * 8;

/** How long the signature of the first `codeLimit` bytes of a file is. Its content has no influence. */
export function signatureBytes(codeLimit: number, identity: Identity): number {
  const others = otherBlobs(identity);
  const hashes = (specialSlots + Math.ceil(codeLimit / pageBytes)) * hashBytes;
  const directory = codeDirectoryBytes + identBytes(identity).length + hashes;
  return (
    superBlobHeadBytes(1 + others.length) +
    directory +
    others.reduce((sum, [, { length }]) => sum + length, 0)
  );
}

/** Signs `code`, all of the file before the signature, whose __TEXT segment is `text`. */
export function makeSignature(
  code: Uint8Array,
  text: { offset: number; bytes: number },
  identity: Identity,
): Buffer {
  const others = otherBlobs(identity);
  const directory = codeDirectory(code, text, identity, new Map(others));
  const blobs: [slot: number, data: Buffer][] = [[slots.codeDirectory, directory], ...others];
  const index = Buffer.alloc(4 + blobs.length * 8);
  index.writeUInt32BE(blobs.length, 0);
  let at = superBlobHeadBytes(blobs.length);
  for (const [i, [slot, { length }]] of blobs.entries()) {
    index.writeUInt32BE(slot, 4 + i * 8);
    index.writeUInt32BE(at, 8 + i * 8);
    at += length;
  }
  return blob(magics.superBlob, index, ...blobs.map(([, data]) => data));
}

function codeDirectory(
  code: Uint8Array,
  text: { offset: number; bytes: number },
  identity: Identity,
  blobs: Map<number, Buffer>,
): Buffer {
  const ident = identBytes(identity);
  const hashOffset = codeDirectoryBytes + ident.length + specialSlots * hashBytes;
  const pages = Math.ceil(code.byteLength / pageBytes);
  const fields: Partial<Record<CodeDirectoryField, number | bigint>> = {
    magic: magics.codeDirectory,
    length: hashOffset + pages * hashBytes,
    version: 0x20400,
    flags: flagAdhoc,
    hashOffset,
    identOffset: codeDirectoryBytes,
    nSpecialSlots: specialSlots,
    nCodeSlots: pages,
    codeLimit: code.byteLength,
    hashSize: hashBytes,
    hashType: hashSha256,
    pageSize: pageShift,
    execSegBase: BigInt(text.offset),
    execSegLimit: BigInt(text.bytes),
    execSegFlags: execSegMainBinary,
  };
  const hashes = Buffer.alloc((specialSlots + pages) * hashBytes);
  for (let slot = 1; slot <= specialSlots; slot++) {
    const data = blobs.get(slot);
    if (data) sha256(data).copy(hashes, (specialSlots - slot) * hashBytes);
  }
  // The last page is hashed as far as it goes, without padding.
  for (let page = 0; page < pages; page++)
    sha256(code.subarray(page * pageBytes, (page + 1) * pageBytes)).copy(
      hashes,
      (specialSlots + page) * hashBytes,
    );
  return Buffer.concat([packed(fields), ident, hashes]);
}

/** Fields without a value are zero. */
function packed(fields: Partial<Record<CodeDirectoryField, number | bigint>>): Buffer {
  const data = Buffer.alloc(codeDirectoryBytes);
  let at = 0;
  for (const [name, bytes] of codeDirectoryLayout) {
    const value = fields[name] ?? 0;
    if (bytes === 8) data.writeBigUInt64BE(BigInt(value), at);
    else data.writeUIntBE(Number(value), at, bytes);
    at += bytes;
  }
  return data;
}
