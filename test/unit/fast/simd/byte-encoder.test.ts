// Both encoders write the same bytes as the engine.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { WideEncoder } from "../../../../src/fast/simd/wide-encoder.ts";
import { base64Length, scalarEncoder } from "../../../../src/util/byte-encoder.ts";
import { escapedBytesMax } from "../../../../src/util/json-bytes.ts";

describe.each([
  ["scalar", scalarEncoder],
  ["wide", new WideEncoder()],
] as const)("%s:", (_, encoder) => {
  const escaped = (text: string): string => {
    const bytes = Buffer.from(text);
    const target = Buffer.alloc(bytes.length * escapedBytesMax + 8);
    const end = encoder.escapeInto(target, 3, bytes);
    return target.subarray(3, end).toString();
  };

  test("any text comes back from JSON as it was", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        expect(JSON.parse(`"${escaped(text)}"`)).toBe(Buffer.from(text).toString());
      }),
      { numRuns: 2000 },
    );
  });

  test("text with many characters to escape, at every place within four bytes", () => {
    for (let special = 0; special < 256; special++) {
      for (const text of ["abc", "abcd", "abcde"].flatMap((base) =>
        [...base].map((_, i) => base.slice(0, i) + String.fromCharCode(special) + base.slice(i)),
      )) {
        expect(escaped(text)).toBe(JSON.stringify(text).slice(1, -1));
      }
    }
  });

  test("long text of every density, beyond what is done in one piece", () => {
    const special = ["\n", '"', "\\", "\x00", "\x1f", "\x7f", "\x80", "é", "日本", "🙂"];
    for (const every of [1, 2, 3, 5, 15, 16, 17, 70, 1000]) {
      for (const bytes of [511, 512, 513, 1000, 65_535, 65_536, 65_537, 200_000]) {
        let text = "";
        for (let at = 0; text.length < bytes; at++)
          text += "x".repeat(every - 1) + special[at % special.length];
        expect(escaped(text) === JSON.stringify(text).slice(1, -1)).toBe(true);
      }
    }
  });

  test("every byte at every place of a vector", () => {
    for (let special = 0; special < 256; special++) {
      const text = Array.from({ length: 40 }, (_, at) => "x".repeat(at) + String.fromCharCode(special)).join(
        "",
      );
      expect(escaped(text)).toBe(JSON.stringify(text).slice(1, -1));
    }
  });

  test("bytes of every length and value are what the engine makes of them", () => {
    const all = Buffer.from(
      Uint8Array.from({ length: 200_000 }, (_, at) => (at * 167 + (at >> 8) * 31) & 255),
    );
    const lengths = [
      0, 1, 2, 3, 4, 511, 512, 513, 514, 515, 523, 524, 525, 49_151, 49_152, 49_153, 49_164, 200_000,
    ];
    for (const length of lengths) {
      const bytes = all.subarray(length % 7, length);
      const target = Buffer.alloc(base64Length(bytes.length) + 8);
      const end = encoder.base64Into(target, 3, bytes);
      expect(end).toBe(3 + base64Length(bytes.length));
      expect(target.toString("latin1", 3, end) === bytes.toString("base64")).toBe(true);
      expect([target[2], target[end]]).toEqual([0, 0]);
    }
  });
});
