import { describe, expect, test } from "bun:test";
import {
  digitsInto,
  digitsOf,
  fewBytesMax,
  fewHave,
  fewInto,
  fewOfBase64,
  fewOfText,
  fewOrView,
  fewToBase64,
} from "../../../src/util/few-bytes.ts";

const lengths = Array.from({ length: fewBytesMax + 1 }, (_, length) => length);
const random = (length: number) => crypto.getRandomValues(new Uint8Array(length));

describe("a few bytes", () => {
  test("of text are its character codes", () => {
    for (const text of ["", "x", "\x00\x1b[A\x7f", "a".repeat(fewBytesMax)])
      expect(fewOfText(text)).toEqual(new Uint8Array(Buffer.from(text)));
  });

  test("are undefined for other characters and longer text", () => {
    for (const text of ["\u0080", "xé", "€", "👩‍🚀", "\ud800", "a".repeat(fewBytesMax + 1)])
      expect(fewOfText(text)).toBeUndefined();
  });

  test("of base64 equal the result of the engine", () => {
    for (const length of lengths.slice(1)) {
      const bytes = random(length);
      const text = Buffer.from(bytes).toString("base64");
      const few = fewOfBase64(text);
      if (text.length > fewBytesMax) expect(few).toBeUndefined();
      else expect(few).toEqual(bytes);
    }
  });

  test("are undefined for base64 without complete padding, and for invalid base64", () => {
    for (const text of ["", "eA", "eA=", "====", "e===", "eA=A", "eA==eA==", "e-A_", "e A=", "€€€€", "eAé="])
      expect(fewOfBase64(text)).toBeUndefined();
  });

  test("become the same base64 as from the engine", () => {
    for (const length of lengths) {
      const bytes = random(length);
      const target = new Uint8Array(64).fill(0x2e);
      const end = fewToBase64(target, 3, bytes);
      expect(Buffer.from(target.subarray(0, end)).toString()).toBe(
        `...${Buffer.from(bytes).toString("base64")}`,
      );
      expect(target[end]).toBe(0x2e);
    }
  });

  test("are copied to an offset, and into a buffer of their own", () => {
    const bytes = random(100);
    const target = new Uint8Array(10);
    expect(fewInto(target, 2, bytes.subarray(0, 5))).toBe(7);
    expect(target).toEqual(new Uint8Array([0, 0, ...bytes.subarray(0, 5), 0, 0, 0]));
    const few = fewOrView(bytes, 10, 10 + fewBytesMax);
    const view = fewOrView(bytes, 10, 11 + fewBytesMax);
    const before = bytes.slice(10, 11 + fewBytesMax);
    bytes.fill(0);
    expect(few).toEqual(before.subarray(0, fewBytesMax));
    expect(view).toEqual(new Uint8Array(fewBytesMax + 1));
  });

  test("are searched, as are many", () => {
    for (const length of [0, 1, fewBytesMax, 500]) {
      const bytes = new Uint8Array(length);
      expect(fewHave(bytes, 7)).toBe(false);
      if (length === 0) continue;
      bytes[length - 1] = 7;
      expect(fewHave(bytes, 7)).toBe(true);
    }
  });

  test("of a number are its decimal digits", () => {
    for (const number of [0, 1, 9, 10, 99, 100, 12345, 2 ** 31, 2 ** 32 + 1, 999_999_999_999, 2 ** 53 - 1]) {
      const text = String(number);
      expect(digitsOf(number)).toBe(text.length);
      const target = new Uint8Array(20).fill(0x2e);
      digitsInto(target, 18, number);
      expect(Buffer.from(target).toString()).toBe(`${text.padStart(18, ".")}..`);
    }
  });
});
