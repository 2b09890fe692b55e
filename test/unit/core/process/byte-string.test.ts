import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { byteStringOf, bytesOf, fromText, quote, toText } from "../../../../src/core/process/byte-string.ts";
import { needsShell } from "../../../support/needs.ts";

/** A word of any bytes but NUL, which no shell can hold. */
const word = fc
  .oneof(
    fc.uint8Array({ maxLength: 60 }),
    fc
      .array(fc.constantFrom(...Buffer.from("'\"\\$`!\n\r\t *~#-=")), { maxLength: 20 })
      .map((bytes) => Uint8Array.from(bytes)),
  )
  .map((bytes) => bytes.filter((byte) => byte !== 0));

/** What the shell makes of the quoted words: each printed with a NUL after it. */
function printedBy(shell: string[], words: Uint8Array[]): Uint8Array[] {
  const script = words.map((bytes) => `printf '%s\\0' ${quote(byteStringOf(bytes))}\n`).join("");
  const { stdout, stderr, exitCode } = Bun.spawnSync(shell, {
    stdin: bytesOf(script),
    env: { LC_ALL: "C.UTF-8" },
  });
  expect([exitCode, stderr.toString()]).toEqual([0, ""]);
  const printed = byteStringOf(stdout).split("\0");
  expect(printed.pop()).toBe("");
  return printed.map(bytesOf);
}

describe("a shell reproduces a quoted word byte for byte:", () => {
  for (const name of ["sh", "bash", "dash", "zsh"]) {
    needsShell(name).test(name, () => {
      const flags = name === "zsh" ? ["-f"] : [];
      fc.assert(
        fc.property(fc.array(word, { minLength: 20, maxLength: 50 }), (words) => {
          expect(printedBy([Bun.which(name)!, ...flags], words).map(byteStringOf)).toEqual(
            words.map(byteStringOf),
          );
        }),
        { numRuns: 20 },
      );
    });
  }

  test("sh -c, as one argument", () => {
    const nasty = `it's "a" $HOME \`id\` \\ ! *\n-n`;
    const { stdout } = Bun.spawnSync(["sh", "-c", `printf %s ${toText(quote(fromText(nasty)))}`]);
    expect(stdout.toString()).toBe(nasty);
  });

  test("each byte by itself", () => {
    const all = Array.from({ length: 255 }, (_, i) => Uint8Array.of(i + 1));
    expect(printedBy(["sh"], all).map(byteStringOf)).toEqual(all.map(byteStringOf));
  });
});

test("bytes and text survive a round trip", () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.string({ unit: "binary" }), (bytes, text) => {
      expect(Buffer.from(bytesOf(byteStringOf(bytes)))).toEqual(Buffer.from(bytes));
      expect(toText(fromText(text))).toBe(text);
    }),
  );
});
