// What the page about security promises is held by tests that exist.
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../../..");
const page = readFileSync(join(root, "docs/security.md"), "utf8");

interface Row {
  text: string;
  references: { file: string; name: string }[];
}

const referencesIn = (text: string) =>
  [...text.matchAll(/\[[\w-]+\]\(\.\.\/(test\/[^)]+)\): (.+?)(?=<br>| *\|$|\)\.$)/gm)].map(
    ([, file, name]) => ({
      file: file!,
      name: name!.trim(),
    }),
  );

/** Rows of the tables whose last column is the test. */
function promises(): Row[] {
  let isTable = false;
  return page.split("\n").flatMap((line) => {
    if (!line.startsWith("|")) isTable = false;
    if (/\| test +\|$/.test(line)) {
      isTable = true;
      return [];
    }
    return isTable && !/^\| -/.test(line) ? [{ text: line, references: referencesIn(line) }] : [];
  });
}

test("every promise names a test", () => {
  const rows = promises();
  expect(rows.length).toBeGreaterThan(40);
  expect(rows.filter(({ references }) => references.length === 0).map(({ text }) => text)).toEqual([]);
});

test("every test that it names exists", () => {
  const references = referencesIn(page);
  expect(references.length).toBeGreaterThan(55);
  const missing = references.filter(({ file, name }) => {
    const path = join(root, file);
    return !existsSync(path) || !readFileSync(path, "utf8").includes(JSON.stringify(name));
  });
  expect(missing).toEqual([]);
});

test("no test of this kind is left out of it", () => {
  const kinds = new Bun.Glob("test/integration/daemon/{security,starved}-*.test.ts").scanSync(root);
  const named = referencesIn(page);
  for (const file of kinds) {
    const text = readFileSync(join(root, file), "utf8");
    const titles = text.matchAll(/^ *(?:needs\([^)]*\)\.)?test(?:\.each\([^\n]*?\))?\(\s*"([^"]+)"/gm);
    for (const [, name] of titles)
      if (!named.some((reference) => reference.file === file && reference.name === name))
        throw new Error(`docs/security.md does not name ${file}: ${name}`);
  }
});
