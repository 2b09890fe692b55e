// Fragments of programs in the pages are held against the types of the package, which the build makes.
import { describe, expect, test } from "bun:test";
import { complaintsAbout } from "../support/fragments.ts";

describe("a fragment", () => {
  const complaints = (code: string, language: "ts" | "js" = "ts") =>
    complaintsAbout([{ page: "docs/a.md", line: 7, language, code }]);

  test("may use what the page has introduced, or bring its own", () => {
    expect(complaints('const { exitCode } = await session.run("ls");\nconst trl = exitCode;\n')).toEqual([]);
  });

  test("with a name or an option that does not exist is said, with its place", () => {
    const [complaint, ...more] = complaints('show();\nawait session.runn("ls");\n');
    expect(complaint).toContain("docs-a.md-7.ts(9,");
    expect(more).toEqual([]);
    expect(complaints('await session.run("ls", { timeout: 1 });\n')).not.toEqual([]);
    expect(complaints("terminal.typo();\n", "js")).not.toEqual([]);
  });
});
