import { describe, expect, test } from "bun:test";
import { PlainTextScanner } from "../../../../src/fast/simd/plain-start.ts";

const scanner = new PlainTextScanner();
const plainStart = (bytes: Uint8Array) => scanner.plainStart(bytes);

const text = (length: number) => new Uint8Array(length).map((_, i) => 0x20 + (i % 95));
const plainBytes = [...Array(256).keys()].filter(
  (byte) => (byte >= 0x20 && byte !== 0x7f && byte !== 0xc2) || [0x09, 0x0a, 0x0d].includes(byte),
);

describe("the plain start of output", () => {
  test("is all of it, up to sixteen bytes", () => {
    for (const length of [0, 1, 15, 16, 17, 1000, 64 * 1024, 64 * 1024 + 5, 200_000])
      expect(plainStart(text(length))).toBe(length - (length % 16));
  });

  test("ends before what is not plain, wherever that is", () => {
    for (const length of [48, 64 * 1024, 150_000]) {
      for (const at of [0, 1, 15, 16, 31, length - 16, length - 1]) {
        const bytes = text(length);
        bytes[at] = 0x1b;
        expect(plainStart(bytes)).toBe(at - (at % 16));
      }
    }
  });

  test("knows every byte", () => {
    for (let byte = 0; byte < 256; byte++) {
      const bytes = text(32);
      bytes[20] = byte;
      expect(plainStart(bytes)).toBe(plainBytes.includes(byte) ? 32 : 16);
    }
  });
});
