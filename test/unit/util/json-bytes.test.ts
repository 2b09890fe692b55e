import { expect, test } from "bun:test";
import fc from "fast-check";
import { escapedBytesMax, escapeInto } from "../../../src/util/json-bytes.ts";

function escaped(text: string): string {
  const bytes = Buffer.from(text);
  const target = Buffer.alloc(bytes.length * escapedBytesMax + 8);
  const end = escapeInto(target, 3, bytes);
  return target.subarray(3, end).toString();
}

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
