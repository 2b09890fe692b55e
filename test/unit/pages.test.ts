// The pages and the source name the same things: files, methods, pages.
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { verbs } from "../../src/cli/commands.ts";
import { methods } from "../../src/protocol/methods.ts";
import { fencesOf } from "../support/markdown.ts";

const root = join(import.meta.dir, "../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const readme = read("README.md");

test("the table of methods has all of them", () => {
  const rows = [...readme.matchAll(/^\| (`\w+\.\w+`(?:, `\w+\.\w+`)*) +\|/gm)];
  const named = rows.flatMap(([, names]) => [...names!.matchAll(/\w+\.\w+/g)].map(([name]) => name));
  expect(named.sort()).toEqual(Object.keys(methods).sort());
});

test("the list of pages has all of them", () => {
  const pages = readdirSync(join(root, "docs"))
    .filter((file) => file.endsWith(".md"))
    .map((file) => `docs/${file}`);
  const rows = [...readme.matchAll(/^\| \[[^\]]+\]\((docs\/[^)]+)\)/gm)].map(([, file]) => file!);
  expect(rows.sort()).toEqual(pages.sort());
});

test("the page of the command line has every verb, and no other", () => {
  const rows = read("docs/cli.md").matchAll(/^\| ((?:\[?`[\w-]+`(?:\]\(#[\w-]+\))?(?:, )?)+) +\|/gm);
  const named = [...rows].flatMap(([, cell]) => [...cell!.matchAll(/`([\w-]+)`/g)].map(([, verb]) => verb!));
  expect(named.sort()).toEqual(Object.keys(verbs).sort());
});

/** Paths in the tour of docs/architecture.md: a line names a directory of src/, or things in the last one named. */
function tour(): string[] {
  const [text] = fencesOf(read("docs/architecture.md")).flatMap((fence) =>
    fence.text.startsWith("src/main.ts") ? [fence.text] : [],
  );
  let section = "";
  return text!.split("\n").flatMap((line) => {
    const [first, ...others] = line.match(/[\w./-]+(?:\.ts|\/)(?=[\s:]|$)/g) ?? [];
    if (!first) return [];
    if (!line.startsWith(" ")) section = first;
    const head = line.startsWith(" ") ? join(section, first) : first;
    const directory = head.endsWith("/") ? head : dirname(head);
    return [head, ...others.map((name) => join(directory, name))];
  });
}

test("what the code tour names is there", () => {
  const paths = tour();
  expect(paths.length).toBeGreaterThan(100);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("the code tour leaves out no directory", () => {
  const shown = tour().map((path) => (path.endsWith("/") ? path.slice(0, -1) : dirname(path)));
  const there = [...new Bun.Glob("src/**/*.ts").scanSync(root)].map((file) => dirname(file));
  expect([...new Set(there)].filter((directory) => !shown.includes(directory))).toEqual([]);
});

test("every promise has a test that would catch its breach", () => {
  const [, promises] = readme.split("\n## What it promises\n");
  const [list, rest] = promises!.split("\n### Each promise and its test\n");
  const made = [...list!.matchAll(/^- \*\*(.+?)[.:]?\*\*/gm)].map(([, promise]) => promise!);
  const rows = [...rest!.split("\n## ")[0]!.matchAll(/^\| (.+?) +\| ((?:`[^`]+`(?:, )?)+) +\|$/gm)];
  expect(made.length).toBeGreaterThan(20);
  expect(rows.map(([, promise]) => promise!)).toEqual(made);
  const files = rows.flatMap(([, , cell]) => [...cell!.matchAll(/`([^`]+)`/g)].map(([, file]) => file!));
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
