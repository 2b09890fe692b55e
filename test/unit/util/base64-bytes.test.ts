import { expect, test } from "bun:test";
import { base64Into, base64Length } from "../../../src/util/base64-bytes.ts";

test("bytes of every length and value are what the engine makes of them", () => {
  const all = Buffer.from(Uint8Array.from({ length: 200_000 }, (_, at) => (at * 167 + (at >> 8) * 31) & 255));
  const lengths = [
    0, 1, 2, 3, 4, 511, 512, 513, 514, 515, 523, 524, 525, 49_151, 49_152, 49_153, 49_164, 200_000,
  ];
  for (const length of lengths) {
    const bytes = all.subarray(length % 7, length);
    const target = Buffer.alloc(base64Length(bytes.length) + 8);
    const end = base64Into(target, 3, bytes);
    expect(end).toBe(3 + base64Length(bytes.length));
    expect(target.toString("latin1", 3, end) === bytes.toString("base64")).toBe(true);
    expect([target[2], target[end]]).toEqual([0, 0]);
  }
});
