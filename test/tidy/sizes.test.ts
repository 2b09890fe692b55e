// How large files and functions may be, and which files are too small to stand alone.
import { describe, expect, test } from "bun:test";
import { dirname } from "node:path";
import { importedFiles, linesOf, list, read, sources } from "./source.ts";

const fileLinesMax = 400;
const functionLinesMax = 70;
const smallFileLines = 30;

/** The text with all template literals emptied: their content is not TypeScript, but has braces. */
function withoutTemplates(text: string): string {
  const codeToken = /\/\/.*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[\s\S]/y;
  const templateToken = /\\[\s\S]|\$\{|[\s\S]/y;
  const open: ("template" | "code")[] = [];
  let result = "";
  for (let at = 0; at < text.length; ) {
    const isInTemplate = open.at(-1) === "template";
    const token = isInTemplate ? templateToken : codeToken;
    token.lastIndex = at;
    const piece = token.exec(text)![0];
    const isBlanked = open.length > 0;
    if (piece === "`" && isInTemplate) open.pop();
    else if (piece === "`") open.push("template");
    else if (isInTemplate ? piece === "${" : piece === "{" && isBlanked) open.push("code");
    else if (piece === "}" && isBlanked && !isInTemplate) open.pop();
    result += isBlanked || piece === "`" ? piece.replace(/[^\n]/g, " ") : piece;
    at += piece.length;
  }
  return result;
}

/** Functions by their first line, with their number of lines. Relies on the indentation that Biome writes. */
function functionLengths(text: string): { start: string; lines: number }[] {
  const lines = withoutTemplates(text).split("\n");
  const isStart = (line: string) =>
    /(?:=>|\)(?:: .+)?) \{$/.test(line) &&
    !/^\s*(?:\} )?(?:if|else|for|while|switch|catch|with)\b/.test(line);
  return lines.flatMap((line, first) => {
    if (!isStart(line)) return [];
    const indent = /^\s*/.exec(line)![0];
    const length = lines.slice(first).findIndex((later, i) => i > 0 && later.startsWith(`${indent}}`)) + 1;
    return [{ start: line.trim(), lines: length || lines.length - first }];
  });
}

/** Small files whose only importer, tests included, is in the same folder: each belongs into that importer. */
function fragments(): string[] {
  const importers = new Map<string, Set<string>>();
  for (const file of [...sources, ...list("test/**/*.ts")])
    for (const { target } of importedFiles(file))
      importers.set(target, (importers.get(target) ?? new Set()).add(file));
  // One file a command, and one file a platform, are rules of their own.
  const mayBeSmall = /^src\/(?:platform|cli\/commands)\//;
  return sources.flatMap((file) => {
    const [only, ...more] = importers.get(file) ?? [];
    const isFragment =
      only !== undefined &&
      more.length === 0 &&
      dirname(only) === dirname(file) &&
      linesOf(read(file)) <= smallFileLines &&
      linesOf(read(file)) + linesOf(read(only)) <= fileLinesMax;
    return isFragment && !mayBeSmall.test(file) ? [`${file} belongs into ${only}`] : [];
  });
}

describe("sizes:", () => {
  test(`no source file has more than ${fileLinesMax} lines`, () =>
    expect(sources.filter((file) => linesOf(read(file)) > fileLinesMax)).toEqual([]));

  test(`no function has more than ${functionLinesMax} lines`, () => {
    const long = sources.flatMap((file) =>
      functionLengths(read(file))
        .filter(({ lines }) => lines > functionLinesMax)
        .map(({ start, lines }) => `${file}: ${start} (${lines} lines)`),
    );
    expect(long).toEqual([]);
  });

  test(`no file of ${smallFileLines} lines or fewer has its neighbour as its only importer`, () =>
    expect(fragments()).toEqual([]));

  test("the length of a function is found whatever text it holds", () => {
    const text = [
      "export class A {",
      "  async b(c: D): Promise<void> {",
      "    if (c) {",
      "      e(`f() {",
      "}$" + "{g(() => `}`)}",
      "  }`);",
      "    }",
      "  }",
      "}",
      "const h = () => {",
      "};",
    ].join("\n");
    expect(functionLengths(text)).toEqual([
      { start: "async b(c: D): Promise<void> {", lines: 7 },
      { start: "const h = () => {", lines: 2 },
    ]);
  });
});
