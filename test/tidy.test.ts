// The house rules that a machine can hold: who imports whom, how long things get, and that nothing is left over.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const root = join(import.meta.dir, "..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const list = (pattern: string) => [...new Bun.Glob(pattern).scanSync(root)].sort();
const sources = list("src/**/*.ts").filter((file) => !file.endsWith(".d.ts"));

const fileLinesMax = 400;
const functionLinesMax = 70;

interface Room {
  rooms: string[];
  packages: string[];
}

/** Which room may look into which others, and what it may bring in from outside. */
const rooms: Record<string, Room> = {
  util: { rooms: [], packages: ["node:", "package.json"] },
  protocol: { rooms: ["util"], packages: ["valibot", "@valibot/to-json-schema"] },
  core: {
    rooms: ["protocol", "util"],
    packages: ["node:", "bun:", "bun-pty", "@xterm/headless", "@xterm/addon-serialize", "re2js"],
  },
  server: { rooms: ["core", "runtime", "protocol", "util"], packages: ["node:"] },
  daemon: {
    rooms: ["server", "core", "runtime", "protocol", "util"],
    packages: ["node:", "bun:jsc", "consola/core", "valibot"],
  },
  client: { rooms: ["protocol", "util"], packages: ["node:", "ws"] },
  runtime: { rooms: ["client", "protocol", "util"], packages: ["node:"] },
  package: { rooms: ["client", "protocol"], packages: [] },
  cli: { rooms: ["client", "protocol", "util"], packages: ["node:", "citty"] },
  main: { rooms: ["cli", "daemon", "util"], packages: [] },
};
/** Files that may look further than their room. */
const furtherRooms: Record<string, string[]> = {
  "src/cli/commands/serve.ts": ["daemon"],
  "src/cli/engine-environment.ts": ["daemon"],
};

interface Import {
  target: string;
  /** Erased when the program is built: it binds nothing at run time. */
  isTypeOnly: boolean;
}

/** Import, re-export and `import(...)`, as Biome formats them. */
function importsOf(text: string): Import[] {
  const statements = text.matchAll(/^(?:import|export)\b(?:([^;"']*?)\bfrom)?\s*["']([^"']+)["']/gm);
  const lazy = text.matchAll(/\bimport\(\s*["']([^"']+)["']/g);
  return [
    ...[...statements].map(([, names = "", target]) => ({ target: target!, isTypeOnly: isTypeOnly(names) })),
    ...[...lazy].map(([, target]) => ({ target: target!, isTypeOnly: false })),
  ];
}

function isTypeOnly(names: string): boolean {
  if (/^\s*type\b/.test(names)) return true;
  const braced = /^\s*\{([^}]*)\}\s*$/.exec(names)?.[1];
  const each = braced?.split(",").filter((name) => name.trim() !== "") ?? [];
  return each.length > 0 && each.every((name) => /^\s*type\s/.test(name));
}

/** `src/cli/commands/run.ts` is in the room `cli`; a file in no room is a room of its own. */
const roomOf = (file: string) => file.split("/")[1]!.replace(/\.ts$/, "");
const resolveImport = (file: string, target: string) => normalize(join(dirname(file), target));

function trespasses(file: string, text: string): string[] {
  const room = rooms[roomOf(file)];
  if (!room) return [`${file} is in no room that is known here`];
  const open = [roomOf(file), ...room.rooms, ...(furtherRooms[file] ?? [])];
  return importsOf(text)
    .map(({ target }) => (target.startsWith(".") ? resolveImport(file, target) : target))
    .filter((target) => {
      if (target.startsWith("src/")) return !open.includes(roomOf(target));
      return !room.packages.some(
        (name) => target === name || (name.endsWith(":") && target.startsWith(name)),
      );
    })
    .map((target) => `${file} -> ${target}`);
}

/** Every cycle is found from at least one of its members. */
function cycles(imports: Map<string, string[]>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: string[]) => {
    if (path.includes(file)) found.push([...path.slice(path.indexOf(file)), file].join(" -> "));
    if (done.has(file) || path.includes(file)) return;
    for (const next of imports.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of imports.keys()) visit(file, []);
  return found;
}

function importGraph(): Map<string, string[]> {
  const targets = (file: string) =>
    importsOf(read(file))
      .filter(({ target, isTypeOnly }) => target.startsWith(".") && !isTypeOnly)
      .map(({ target }) => resolveImport(file, target));
  return new Map(sources.map((file) => [file, targets(file)]));
}

/** All files that a file loads, directly or by others. */
function reach(file: string, seen = new Set<string>()): Set<string> {
  for (const { target, isTypeOnly } of importsOf(read(file))) {
    const next = resolveImport(file, target);
    if (!target.startsWith(".") || isTypeOnly || seen.has(next) || !/\.ts$/.test(next)) continue;
    seen.add(next);
    reach(next, seen);
  }
  return seen;
}

/** The text with all template literals emptied: what is in them is not TypeScript, but it has braces. */
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

/** Functions by their first line, with how many lines they have. Goes by the indentation that Biome gives. */
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

describe("imports", () => {
  test("stay within the reach of their room", () =>
    expect(sources.flatMap((file) => trespasses(file, read(file)))).toEqual([]));

  test("make no cycles", () => expect(cycles(importGraph())).toEqual([]));

  test("are of files that exist, by their full name", () => {
    const missing = sources.flatMap((file) =>
      importsOf(read(file))
        .filter(({ target }) => target.startsWith("."))
        .filter(({ target }) => !existsSync(join(root, resolveImport(file, target))))
        .map(({ target }) => `${file} -> ${target}`),
    );
    expect(missing).toEqual([]);
  });

  test("come from where a thing is: there are no barrels but what the package exports", () => {
    const isBarrel = (file: string) => /^export (?:type )?(?:\*|\{[^}]*\} from)/m.test(read(file));
    expect(sources.filter((file) => isBarrel(file) && !file.startsWith("src/package/"))).toEqual([]);
  });
});

describe("sizes:", () => {
  test(`no source file is over ${fileLinesMax} lines`, () => {
    expect(sources.filter((file) => read(file).trimEnd().split("\n").length > fileLinesMax)).toEqual([]);
  });

  test(`no function is over ${functionLinesMax} lines`, () => {
    const long = sources.flatMap((file) =>
      functionLengths(read(file))
        .filter(({ lines }) => lines > functionLinesMax)
        .map(({ start, lines }) => `${file}: ${start} (${lines} lines)`),
    );
    expect(long).toEqual([]);
  });
});

describe("places:", () => {
  test("/proc is known only to the files for Linux", () => {
    const mayKnow = (file: string) => /linux[^/]*$/.test(file) || file === "src/core/resources.ts";
    const knows = (file: string) => /\/proc(?![\w-])/.test(read(file));
    expect(sources.filter((file) => !mayKnow(file) && knows(file))).toEqual([]);
  });

  test("the environment of the process is read at the edge", () => {
    // bun-pty takes the path of its shared object by a variable and in no other way.
    const mayRead = (file: string) =>
      /^src\/(?:cli\/|daemon\/|main\.ts$|client\/connect\.ts$|core\/terminal\/drivers\/bun-pty-library\.ts$)/.test(
        file,
      );
    const reads = (file: string) => /\b(?:process|Bun|import\.meta)\.env\b/.test(read(file));
    expect(sources.filter((file) => !mayRead(file) && reads(file))).toEqual([]);
  });
});

describe("nothing is left over:", () => {
  const tests = list("test/**/*.ts");
  const texts = [
    ...sources,
    ...tests,
    ...list("{docs,examples}/**/*.{md,py}"),
    "build.ts",
    "README.md",
  ].filter((file) => existsSync(join(root, file)));

  // In pieces, so that this file does not find itself.
  const words = [
    ["TO", "DO"],
    ["FIX", "ME"],
    ["X", "XX"],
    ["HA", "CK"],
    ["not ", "implemented"],
  ];
  test("no word says that something is unfinished", () => {
    const found = words
      .map((pieces) => pieces.join(""))
      .flatMap((word) => {
        const isThere = new RegExp(`\\b${word}\\b`, word === word.toUpperCase() ? "" : "i");
        return texts.filter((file) => isThere.test(read(file))).map((file) => `${file}: ${word}`);
      });
    expect(found).toEqual([]);
  });

  test("no test is left out but for a requirement that it names, by needs()", () => {
    const leftOut = /\b(?:test|it|describe)(?:\.\w+)*\.(?:skip|skipIf|only|if|todo|todoIf)\b/;
    const mayLeaveOut = "test/support/needs.ts";
    expect(tests.filter((file) => file !== mayLeaveOut && leftOut.test(read(file)))).toEqual([]);
  });

  test("no unit test needs the executable, so that test:quick runs without a build", () => {
    const needing = list("test/unit/**/*.ts").filter((file) => reach(file).has("test/support/program.ts"));
    expect(needing).toEqual([]);
  });

  test("every dependency has one exact version", () => {
    const { dependencies, devDependencies } = JSON.parse(read("package.json"));
    const versions = Object.entries<string>({ ...dependencies, ...devDependencies });
    expect(versions.length).toBeGreaterThan(0);
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))).toEqual([]);
  });
});

describe("the rules themselves can tell:", () => {
  test("all ways to import", () => {
    const text = [
      'import "./a.ts";',
      'import b from "./b.ts";',
      'import type { C } from "./c.ts";',
      "import {\n  type D,\n  d,\n} from './d.ts';",
      'import { type E, type F } from "./e.ts";',
      'export { g } from "./g.ts";',
      'const h = () => import("./h.ts");',
    ].join("\n");
    expect(importsOf(text).map(({ target, isTypeOnly }) => `${target}${isTypeOnly ? " type" : ""}`)).toEqual([
      "./a.ts",
      "./b.ts",
      "./c.ts type",
      "./d.ts",
      "./e.ts type",
      "./g.ts",
      "./h.ts",
    ]);
  });

  test("who trespasses", () => {
    expect(trespasses("src/core/a.ts", 'import { b } from "../server/b.ts";')).toHaveLength(1);
    expect(trespasses("src/core/a/b.ts", 'import type { C } from "../../protocol/c.ts";')).toEqual([]);
    expect(trespasses("src/cli/commands/run.ts", 'const d = import("../daemon/boot.ts");')).toHaveLength(1);
    expect(trespasses("src/cli/commands/serve.ts", 'import { boot } from "../daemon/boot.ts";')).toEqual([]);
    expect(trespasses("src/protocol/a.ts", 'import { join } from "node:path";')).toHaveLength(1);
    expect(trespasses("src/attic/a.ts", "")).toHaveLength(1);
  });

  test("a cycle, also one that is not where the search begins", () => {
    const edges: [string, string[]][] = [
      ["a", ["b"]],
      ["b", ["c", "d"]],
      ["c", []],
      ["d", ["b"]],
    ];
    expect(cycles(new Map(edges))).toEqual(["b -> d -> b"]);
    expect(cycles(new Map([...edges.slice(0, 3), ["d", ["c"]]]))).toEqual([]);
  });

  test("how long a function is, whatever text it holds", () => {
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
