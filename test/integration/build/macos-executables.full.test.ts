// trl's executables for macOS, as build.ts makes them: their ad hoc signatures cover all of the file, and its layout is
// one that macOS accepts. Their format is checked, they are not run: that takes a Mac.
import { afterAll, expect, setDefaultTimeout } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { compile } from "../../../scripts/compile.ts";
import { inspectSignature } from "../../../scripts/macho/verify.ts";
import { needs } from "../../support/needs.ts";
import { tempDir } from "../../support/temp-dir.ts";

const { describe, test } = needs("macOS builds");

setDefaultTimeout(180_000); // the first build downloads Bun for the platform

const dir = tempDir();
afterAll(() => dir[Symbol.dispose]());

describe.each([
  ["darwin-x64", 0x01000007],
  ["darwin-arm64", 0x0100000c],
] as const)("trl-%s", (target, cpu) => {
  test("is signed ad hoc, all of it, with the entitlements of a JIT", async () => {
    const path = join(dir.path, `trl-${target}`);
    await compile(path, target);
    const file = readFileSync(path);
    expect(file.readUInt32LE(4)).toBe(cpu);
    expect(statSync(path).mode & 0o111).toBe(0o111);
    expect(readdirSync(dir.path).filter((name) => name.endsWith(".signed"))).toEqual([]);

    const inspection = inspectSignature(file);
    expect(inspection).toMatchObject({
      problems: [], // the layout of segments and tables, the hashes of special slots, both forms of the entitlements
      wrongPages: 0,
      uncoveredBytes: 0,
      identifier: "trl",
      flags: 2, // ad hoc, and neither the hardened runtime nor "by the linker"
    });
    expect(inspection.entitlements.toSorted()).toEqual([
      "com.apple.security.cs.allow-dyld-environment-variables",
      "com.apple.security.cs.allow-jit",
      "com.apple.security.cs.allow-unsigned-executable-memory",
      "com.apple.security.cs.disable-executable-page-protection",
      "com.apple.security.cs.disable-library-validation",
    ]);
    expect(inspection.pages).toBe(Math.ceil(inspection.codeLimit / 4096));

    // What Bun embeds: __BUN,__bun begins with its length, and is before the end of what is signed.
    const { offset, bytes } = bunSection(file);
    expect(Number(file.readBigUInt64LE(offset)) + 8).toBe(bytes);
    expect(offset + bytes).toBeLessThan(inspection.codeLimit);
    expect(file.subarray(offset, offset + bytes).includes("trl")).toBe(true);
  });
});

/** struct section_64: its name, its segment, its address (8 bytes), its size (8) and its offset (4). */
function bunSection(file: Buffer): { offset: number; bytes: number } {
  const name = Buffer.alloc(32);
  name.write("__bun", 0);
  name.write("__BUN", 16);
  const at = file.indexOf(name);
  return { offset: file.readUInt32LE(at + 48), bytes: Number(file.readBigUInt64LE(at + 40)) };
}
