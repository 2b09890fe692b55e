// What the tidy tests read: the files of the tree, and what each imports.
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

export const root = join(import.meta.dir, "../..");
export const read = (file: string) => readFileSync(join(root, file), "utf8");
export const list = (pattern: string) =>
  [...new Bun.Glob(pattern).scanSync(root)].filter((file) => !file.includes("node_modules/")).sort();
export const sources = list("src/**/*.ts").filter((file) => !file.endsWith(".d.ts"));
export const linesOf = (text: string) => text.trimEnd().split("\n").length;

export interface Import {
  target: string;
  /** Erased when the program is built: it binds nothing at run time. */
  isTypeOnly: boolean;
}

/** Import, re-export and `import(...)`, as Biome formats them. */
export function importsOf(text: string): Import[] {
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

export const resolveImport = (file: string, target: string) => normalize(join(dirname(file), target));

/** The files that a file imports, by their paths in the tree. */
export const importedFiles = (file: string, text = read(file)): Import[] =>
  importsOf(text)
    .filter(({ target }) => target.startsWith("."))
    .map(({ target, isTypeOnly }) => ({ target: resolveImport(file, target), isTypeOnly }));

/** Every cycle is found from at least one of its members. */
export function cycles(graph: Map<string, Iterable<string>>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const search = (node: string, path: string[]) => {
    if (path.includes(node)) found.push([...path.slice(path.indexOf(node)), node].join(" -> "));
    if (done.has(node) || path.includes(node)) return;
    for (const next of graph.get(node) ?? []) search(next, [...path, node]);
    done.add(node);
  };
  for (const node of graph.keys()) search(node, []);
  return found;
}

/** TypeScript without its comments. */
export const withoutComments = (text: string): string =>
  text.replace(/"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\/\/.*|\/\*[\s\S]*?\*\//g, (piece) =>
    piece.startsWith("/") ? "" : piece,
  );
