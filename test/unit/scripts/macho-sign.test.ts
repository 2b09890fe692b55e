// The ad hoc signer for macOS executables, on small files that are made here. The verifier that judges it shares nothing
// with it; macos-executables.full.test.ts signs trl itself.
import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { signExecutable, signMachO, trl } from "../../../scripts/macho/sign.ts";
import { inspectSignature } from "../../../scripts/macho/verify.ts";
import { tempDir } from "../../support/temp-dir.ts";

const x64 = 0x01000007;
const arm64 = 0x0100000c;

interface Shape {
  cpu: number;
  /** Bytes between the load commands and the first section. */
  padding: number;
  /** Bytes of __LINKEDIT before a signature. */
  linkedit: number;
  /** Bytes of a signature that is there already, which is wrong. */
  signature: number | undefined;
}

const plain: Shape = { cpu: x64, padding: 64, linkedit: 1000, signature: undefined };
const page = 0x4000;
/** Of the load commands of a file. */
const at = { pagezero: 32, text: 104, linkedit: 256, symtab: 328, signature: 352 };

/** An executable of three segments: nothing, one page of code, and symbols. */
function machO(shape: Partial<Shape> = {}): Buffer {
  const { cpu, padding, linkedit, signature = 0 } = { ...plain, ...shape };
  const isSigned = shape.signature !== undefined;
  const commands = at.signature - 32 + (isSigned ? 16 : 0);
  const file = Buffer.alloc(page + linkedit + signature);
  file.forEach((_, i) => {
    if (i >= 32 + commands + padding) file[i] = (i * 7 + (i >> 8)) % 251;
  });
  const words = (offset: number, ...values: number[]) =>
    values.forEach((value, i) => void file.writeUInt32LE(value, offset + i * 4));
  const segment = (offset: number, name: string, sections: number, ...sizes: number[]) => {
    words(offset, 0x19, 72 + sections * 80);
    file.write(name, offset + 8);
    sizes.forEach((size, i) => void file.writeBigUInt64LE(BigInt(size), offset + 24 + i * 8));
    words(offset + 64, sections);
  };
  words(0, 0xfeedfacf, cpu, 0, 2, isSigned ? 5 : 4, commands, 0, 0);
  segment(at.pagezero, "__PAGEZERO", 0, 0, 2 ** 32, 0, 0);
  segment(at.text, "__TEXT", 1, 2 ** 32, page, 0, page);
  file.write("__text", at.text + 72);
  file.writeBigUInt64LE(100n, at.text + 72 + 40);
  words(at.text + 72 + 48, 32 + commands + padding);
  const bytes = linkedit + signature;
  segment(at.linkedit, "__LINKEDIT", 0, 2 ** 32 + page, Math.ceil(bytes / page) * page, page, bytes);
  words(at.symtab, 2, 24, page, 4, page + 64, linkedit - 64);
  if (isSigned) words(at.signature, 0x1d, 16, page + linkedit, signature);
  return file;
}

const reasonOf = (file: Uint8Array): string => {
  try {
    signMachO(file, trl);
    return "signed";
  } catch (error) {
    return (error as Error).message;
  }
};
const sha256 = (data: Uint8Array) => createHash("sha256").update(data).digest("hex");

describe("a signed file", () => {
  test.each([
    ["x64", plain],
    ["arm64", { ...plain, cpu: arm64 }],
    ["with a longer signature", { ...plain, linkedit: 1008, signature: 9000 }],
    ["with a shorter signature", { ...plain, linkedit: 1008, signature: 16 }],
    ["with an empty signature", { ...plain, signature: 0 }],
    ["with a signature at an odd offset", { ...plain, linkedit: 999, signature: 77 }],
    ["signed, and without room for another load command", { ...plain, padding: 0, signature: 48 }],
    ["with just enough room for a load command", { ...plain, padding: 16 }],
    ["whose code ends with a page", { ...plain, linkedit: 4096 }],
    ["whose code ends one alignment behind a page", { ...plain, linkedit: 4097 }],
    ["larger than a page of __LINKEDIT", { ...plain, cpu: arm64, linkedit: 40_000 }],
  ] as [string, Shape][])("%s is valid, and the same when it is signed again", (_, shape) => {
    const signed = signMachO(machO(shape), trl);
    expect(inspectSignature(signed)).toEqual({
      problems: [],
      pages: Math.ceil((page + Math.ceil(shape.linkedit / 16) * 16) / 4096),
      wrongPages: 0,
      codeLimit: page + Math.ceil(shape.linkedit / 16) * 16,
      uncoveredBytes: 0,
      identifier: "trl",
      flags: 2,
      entitlements: [...trl.entitlements],
    });
    expect(Buffer.compare(signMachO(signed, trl), signed)).toBe(0);
  });

  test("has the code and the symbols of the unsigned one", () => {
    const file = machO();
    const signed = Buffer.from(signMachO(file, trl));
    expect(signed.subarray(at.signature + 16, page + 1000).equals(file.subarray(at.signature + 16))).toBe(
      true,
    );
  });

  test("has zeros and no rest of the old signature before the new one", () => {
    const signed = signMachO(machO({ linkedit: 999, signature: 77 }), trl);
    expect([...signed.subarray(page + 999, page + 1008)]).toEqual(Array(9).fill(0));
  });

  test("has the entitlements of Bun's releases, byte for byte as codesign writes them", () => {
    const signed = Buffer.from(signMachO(machO(), trl));
    const blob = (magic: number) => {
      const start = signed.lastIndexOf(Buffer.from(magic.toString(16), "hex"));
      return signed.subarray(start, start + signed.readUInt32BE(start + 4));
    };
    // The hashes are those of special slots 5 and 7 in @oven/bun-darwin-x64 and -aarch64 1.4.4, which Apple's tool signed.
    expect(sha256(blob(0xfade7171))).toBe("40d85e6419a4e0be9cbb54c70833092f557a7177a8b635f86dd8f948ea9380ec");
    expect(sha256(blob(0xfade7172))).toBe("f84d5cd4734acc2254adafdd10c71820a9c26d36d65b82833e71df8b20b36a4b");
    // The one that every ad hoc signature of codesign has in special slot 2: no requirements.
    expect(sha256(blob(0xfade0c01))).toBe("987920904eab650e75788c054aa0b0524e6a80bfc71aa32df8d237a61743f986");
  });

  test("replaces the one on disk, with its mode and another inode", () => {
    using dir = tempDir();
    const path = join(dir.path, "trl");
    writeFileSync(path, machO());
    chmodSync(path, 0o751);
    const before = statSync(path);
    signExecutable(path);
    expect(statSync(path).mode).toBe(before.mode);
    expect(statSync(path).ino).not.toBe(before.ino);
    expect(inspectSignature(readFileSync(path)).problems).toEqual([]);
  });
});

/** A file with one number changed. */
function changed(offset: number, value: number, shape: Partial<Shape> = {}): Buffer {
  const file = machO(shape);
  file.writeUInt32LE(value, offset);
  return file;
}

describe("the signer refuses", () => {
  test.each([
    ["a 32-bit file", changed(0, 0xfeedface), "a 32-bit Mach-O file"],
    [
      "a universal file",
      changed(0, 0xbebafeca),
      "a universal file: extract each architecture with `lipo -thin`",
    ],
    ["a universal file with 64-bit offsets", changed(0, 0xbfbafeca), "a universal file"],
    ["a big-endian file", changed(0, 0xcffaedfe), "a big-endian 64-bit Mach-O file"],
    ["an executable of Linux", changed(0, 0x464c457f), "an ELF file"],
    ["a text", Buffer.from("#!/bin/sh\nexec true\n# and some more\n"), "it is not a Mach-O file"],
    ["nothing", Buffer.alloc(0), "0 bytes are too few"],
    ["another CPU", changed(4, 18), "its CPU type 0x12 is neither x86_64 nor arm64"],
    ["a library", changed(12, 6), "it is not an executable, its Mach-O type is 6"],
    [
      "no room for the load command",
      machO({ padding: 15 }),
      "15 bytes are free behind its load commands, and 16",
    ],
    [
      "other data behind the load commands",
      changed(at.signature + 12, 1),
      "12 bytes are free behind its load commands",
    ],
    [
      "a load command of an odd size",
      changed(at.symtab + 4, 20),
      "load command 3 has an impossible size of 20 bytes",
    ],
    ["load commands that overlap a section", changed(at.text + 72 + 48, 100), "overlap a section"],
    ["more load commands than there are", changed(16, 5), "end after 4 of 5"],
    ["fewer load commands than there are", changed(16, 3), "not sizeofcmds"],
    [
      "a load command of no size",
      changed(at.symtab + 4, 0),
      "load command 3 has an impossible size of 0 bytes",
    ],
    ["a load command past the end", changed(at.symtab + 4, 4096), "an impossible size"],
    ["more sections than there is room for", changed(at.text + 64, 2), "load command is too short"],
    ["no __TEXT", changed(at.text + 8, 0x41414141), "no __TEXT"],
    [
      "__LINKEDIT before another segment",
      changed(at.linkedit + 8, 0x41414141),
      "__LINKEDIT is not its last segment",
    ],
    [
      "segments that overlap in the file",
      changed(at.linkedit + 40, 0),
      "overlaps the one before it in the file",
    ],
    ["segments that overlap in memory", changed(at.linkedit + 24, 0), "overlaps the one before it in memory"],
    ["a segment off its page", changed(at.linkedit + 40, page + 16), "does not begin at a page of the file"],
    ["bytes past __LINKEDIT", Buffer.concat([machO(), Buffer.alloc(9)]), "9 bytes lie past __LINKEDIT"],
    ["two signatures", changed(at.symtab, 0x1d, { signature: 48 }), "it has 2 signatures"],
    [
      "a signature before other data",
      changed(at.signature + 12, 16, { signature: 48 }),
      "not at the end of __LINKEDIT",
    ],
    ["a signature outside of __LINKEDIT", changed(at.signature + 8, 64, { signature: 48 }), "not at the end"],
  ])("%s", (_, file, reason) => {
    expect(reasonOf(file)).toStartWith("cannot sign the file: ");
    expect(reasonOf(file)).toContain(reason);
  });

  test("a file that is cut off, wherever that is", () => {
    const file = signMachO(machO(), trl);
    const lengths = Array.from({ length: file.length }, (_, length) => length);
    const reasons = new Set(
      lengths.map((length) => reasonOf(file.subarray(0, length)).replace(/[\d,]+/g, "N")),
    );
    expect([...reasons]).toEqual([
      "cannot sign the file: N bytes are too few for a Mach-O file",
      "cannot sign the file: it is truncated within its load commands",
      "cannot sign the file: it is truncated: N of N bytes",
    ]);
  });

  test("what it cannot sign rightly, whichever byte of the header is another", () => {
    for (const shape of [{}, { signature: 48 }])
      for (let offset = 0; offset < at.symtab; offset++)
        for (const bit of [0x01, 0x10, 0x80]) {
          const file = machO(shape);
          file[offset]! ^= bit;
          const reason = reasonOf(file);
          if (reason === "signed")
            expect([offset, inspectSignature(signMachO(file, trl)).problems]).toEqual([offset, []]);
          else expect(reason).toStartWith("cannot sign the file: ");
        }
  });
});

describe("the verifier notices", () => {
  const signed = Buffer.from(signMachO(machO(), trl));
  const isNoticed = (offset: number): boolean =>
    [0x01, 0x40, 0x80].every((bit) => {
      const file = Buffer.from(signed);
      file[offset]! ^= bit;
      return inspectSignature(file).problems.length > 0;
    });
  const codeLimit = page + 1008;

  test("a change of any byte that is signed", () => {
    const offsets = Array.from({ length: Math.ceil(codeLimit / 13) }, (_, i) => i * 13);
    expect([...offsets, codeLimit - 1].filter((offset) => !isNoticed(offset))).toEqual([]);
  });

  test("a change of any byte of the signature, but for names, flags and what is free", () => {
    const directory = codeLimit + 12 + 5 * 8;
    const length = signed.readUInt32BE(codeLimit + 4);
    const free = new Set([
      codeLimit + 11, // one blob fewer: the last one is the empty CMS, which the kernel does not ask for
      ...[8, 9, 10, 11].map((i) => directory + i), // a newer version
      ...[12, 13, 14, 15].map((i) => directory + i), // flags
      ...[20, 21, 22, 23].map((i) => directory + i), // where the name is
      ...[48, 49, 50, 51].map((i) => directory + i), // the team
      ...[88, 89, 90, 91].map((i) => directory + i), // the name
    ]);
    const offsets = Array.from({ length }, (_, i) => codeLimit + i).filter((offset) => !free.has(offset));
    expect(offsets.filter((offset) => !isNoticed(offset)).map((offset) => offset - directory)).toEqual([]);
  });

  test("an unsigned file, one that is cut off, and one that goes on", () => {
    expect(inspectSignature(machO()).problems).toEqual(["there is no signature"]);
    expect(inspectSignature(signed.subarray(0, -16)).problems).not.toEqual([]);
    expect(inspectSignature(Buffer.concat([signed, Buffer.alloc(16)])).problems).toContain(
      "__LINKEDIT does not end with the file",
    );
    expect(inspectSignature(Buffer.from("#!/bin/sh\n")).problems).toHaveLength(1);
  });
});
