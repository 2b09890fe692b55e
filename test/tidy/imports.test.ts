// Which folder may import which, and what only the platform layer may do.
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cycles, importedFiles, importsOf, list, read, root, sources, withoutComments } from "./source.ts";

interface Layer {
  /** Other layers that it may import. */
  layers: string[];
  packages: string[];
}

const node = ["node:"];
const belowServer = ["core", "remote", "recovery", "protocol", "platform", "upgrade/schema", "util"];

/** The layers of docs/architecture.md. A file belongs to the longest name that its path begins with. */
const layers: Record<string, Layer> = {
  util: { layers: [], packages: [...node, "package.json"] },
  platform: { layers: ["util"], packages: [...node, "bun:"] },
  protocol: { layers: ["util"], packages: ["valibot", "@valibot/to-json-schema"] },
  "upgrade/schema": { layers: ["protocol"], packages: ["valibot"] },
  core: {
    layers: ["protocol", "platform", "upgrade/schema", "util"],
    packages: [...node, "bun:jsc", "bun-pty", "@xterm/headless", "@xterm/addon-serialize", "re2js"],
  },
  fast: { layers: ["core", "platform", "protocol", "util"], packages: [...node, "valibot"] },
  recovery: { layers: ["core", "platform", "protocol", "util"], packages: node },
  client: { layers: ["protocol", "util"], packages: [...node, "ws"] },
  remote: { layers: ["client", "core", "protocol", "platform", "upgrade/schema", "util"], packages: node },
  server: { layers: belowServer, packages: node },
  upgrade: { layers: ["server", ...belowServer], packages: [...node, "valibot"] },
  daemon: {
    layers: ["fast", "server", "upgrade", ...belowServer],
    packages: [...node, "consola/core", "valibot"],
  },
  package: { layers: ["client", "protocol"], packages: [] },
  cli: { layers: ["client", "protocol", "platform", "util"], packages: [...node, "citty"] },
  main: { layers: ["cli", "daemon", "util"], packages: [] },
};
/** Files that may import more than their layer. */
const exceptions: Record<string, string[]> = {
  "src/cli/commands/serve.ts": ["daemon", "upgrade"],
  // A discovery file names a process by pid and start time; this part of platform needs no bun:ffi.
  "src/client/discover.ts": ["platform"],
};

/** `src/cli/ui/table.ts` is in the layer `cli`. */
function layerOf(file: string): string {
  const path = file.replace(/^src\//, "").replace(/\.ts$/, "");
  const names = Object.keys(layers).filter((name) => path === name || path.startsWith(`${name}/`));
  return names.sort((a, b) => b.length - a.length)[0] ?? path.split("/")[0]!;
}

function violations(file: string, text: string): string[] {
  const layer = layers[layerOf(file)];
  if (!layer) return [`${file} is in a folder that no layer names`];
  const allowed = [layerOf(file), ...layer.layers, ...(exceptions[file] ?? [])];
  const files = importedFiles(file, text)
    .map(({ target }) => target)
    .filter((target) =>
      target.startsWith("src/") ? !allowed.includes(layerOf(target)) : !layer.packages.includes(target),
    );
  const packages = importsOf(text)
    .map(({ target }) => target)
    .filter((target) => !target.startsWith("."))
    .filter(
      (target) =>
        !layer.packages.some((name) => target === name || (name.endsWith(":") && target.startsWith(name))),
    );
  return [...files, ...packages].map((target) => `${file} -> ${target}`);
}

/** The folders of `src/core`, and which of them each imports, for types as well. Files in `src/core` itself are one node. */
function coreFolders(): Map<string, Set<string>> {
  const folderOf = (file: string) => (/^src\/core\/[^/]+\//.exec(file) ?? ["src/core"])[0];
  const graph = new Map<string, Set<string>>();
  for (const file of sources.filter((name) => name.startsWith("src/core/"))) {
    const targets = graph.get(folderOf(file)) ?? new Set();
    graph.set(folderOf(file), targets);
    for (const { target } of importedFiles(file))
      if (target.startsWith("src/core/") && folderOf(target) !== folderOf(file))
        targets.add(folderOf(target));
  }
  return graph;
}

/** All files that a file loads, directly or through others. */
function reach(file: string, seen = new Set<string>()): Set<string> {
  for (const { target, isTypeOnly } of importedFiles(file)) {
    if (isTypeOnly || seen.has(target) || !target.endsWith(".ts")) continue;
    seen.add(target);
    reach(target, seen);
  }
  return seen;
}

describe("imports", () => {
  test("follow the layers", () =>
    expect(sources.flatMap((file) => violations(file, read(file)))).toEqual([]));

  test("make no cycles between files", () => {
    const targets = (file: string) =>
      importedFiles(file)
        .filter(({ isTypeOnly }) => !isTypeOnly)
        .map(({ target }) => target);
    expect(cycles(new Map(sources.map((file) => [file, targets(file)])))).toEqual([]);
  });

  test("make no cycles between the folders of core", () => expect(cycles(coreFolders())).toEqual([]));

  test("name files that exist, by their full name", () => {
    const missing = sources.flatMap((file) =>
      importedFiles(file)
        .filter(({ target }) => !existsSync(join(root, target)))
        .map(({ target }) => `${file} -> ${target}`),
    );
    expect(missing).toEqual([]);
  });

  test("go to the file that defines a thing: no barrels but what the package exports", () => {
    const isBarrel = (file: string) => /^export (?:type )?(?:\*|\{[^}]*\} from)/m.test(read(file));
    expect(sources.filter((file) => isBarrel(file) && !file.startsWith("src/package/"))).toEqual([]);
  });

  test("of unit tests do not reach the executable, so that test:quick needs no build", () => {
    const needing = list("test/unit/**/*.ts").filter((file) => reach(file).has("test/support/program.ts"));
    expect(needing).toEqual([]);
  });
});

describe("the platform layer", () => {
  const others = sources.filter((file) => !file.startsWith("src/platform/"));

  test("alone imports bun:ffi", () =>
    expect(others.filter((file) => importsOf(read(file)).some(({ target }) => target === "bun:ffi"))).toEqual(
      [],
    ));

  test("alone reads /proc", () => {
    // bwrap mounts a /proc inside the sandbox; it reads none.
    const mounts = "src/core/isolation/bubblewrap-linux.ts";
    const names = (file: string) => /\/proc(?![\w-])/.test(withoutComments(read(file)));
    expect(others.filter((file) => file !== mounts && names(file))).toEqual([]);
  });

  test("alone has variables at module level", () => {
    const variables = others.flatMap((file) =>
      [...withoutComments(read(file)).matchAll(/^(?:export )?let (\w+)/gm)].map(
        ([, name]) => `${file}: ${name}`,
      ),
    );
    expect(variables).toEqual([]);
  });
});

test("the environment of the process is read at the edge", () => {
  // bun-pty takes the path of its shared object by a variable and in no other way.
  const mayRead = (file: string) =>
    /^src\/(?:cli\/|daemon\/|main\.ts$|client\/connect\.ts$|core\/terminal\/drivers\/bun-pty-library\.ts$)/.test(
      file,
    );
  const reads = (file: string) => /\b(?:process|Bun|import\.meta)\.env\b/.test(withoutComments(read(file)));
  expect(sources.filter((file) => !mayRead(file) && reads(file))).toEqual([]);
});

describe("the rules themselves detect", () => {
  test("all forms of import", () => {
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

  test("imports that cross layers", () => {
    expect(violations("src/core/a.ts", 'import { b } from "../server/b.ts";')).toHaveLength(1);
    expect(violations("src/core/a/b.ts", 'import type { C } from "../../protocol/c.ts";')).toEqual([]);
    expect(violations("src/core/a/b.ts", 'import type { C } from "../../upgrade/schema/c.ts";')).toEqual([]);
    expect(violations("src/core/a/b.ts", 'import type { C } from "../../upgrade/c.ts";')).toHaveLength(1);
    expect(violations("src/cli/run.ts", 'const d = import("../daemon/boot.ts");')).toHaveLength(1);
    expect(violations("src/cli/commands/serve.ts", 'import { boot } from "../../daemon/boot.ts";')).toEqual(
      [],
    );
    expect(violations("src/protocol/a.ts", 'import { join } from "node:path";')).toHaveLength(1);
    expect(violations("src/attic/a.ts", "")).toHaveLength(1);
  });

  test("a cycle, also one that does not contain the first node", () => {
    const edges: [string, string[]][] = [
      ["a", ["b"]],
      ["b", ["c", "d"]],
      ["c", []],
      ["d", ["b"]],
    ];
    expect(cycles(new Map(edges))).toEqual(["b -> d -> b"]);
    expect(cycles(new Map([...edges.slice(0, 3), ["d", ["c"]]]))).toEqual([]);
  });

  test("code beside comments and strings", () =>
    expect(withoutComments('const a = "//b"; // c\n/* d */ e')).toBe('const a = "//b"; \n e'));
});
