// The guide for frontends shows pieces of files; they must be there, line for line, in this order.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fencesOf } from "../../support/markdown.ts";

const root = join(import.meta.dir, "../../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const linesOf = (text: string) => text.split("\n").map((line) => line.trim());

const excerpts = fencesOf(read("docs/frontends.md")).filter(({ text }) => text.startsWith("// "));

test("there are excerpts", () => expect(excerpts.length).toBeGreaterThan(5));

for (const { line, text } of excerpts) {
  test(`docs/frontends.md, line ${line}, is what the file says`, () => {
    const source = linesOf(read(text.slice(3, text.indexOf("\n"))));
    let at = 0;
    const missing = linesOf(text)
      .slice(1)
      .filter((wanted) => wanted !== "")
      .filter((wanted) => {
        const found = source.findIndex((it, i) => i >= at && it === wanted);
        if (found >= 0) at = found + 1;
        return found < 0;
      });
    expect(missing).toEqual([]);
  });
}
