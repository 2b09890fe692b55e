// Fragments of programs in the pages: parts that say nothing without what stands around them, so they are not run, but
// the compiler looks at them, with the types that a program which has installed the package gets.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "./temp-dir.ts";

export interface Fragment {
  /** The page, without what a file's name cannot have. */
  page: string;
  line: number;
  language: "ts" | "js";
  code: string;
}

const root = join(import.meta.dir, "../..");

/** What the text around the fragments has introduced. A fragment that declares one of them means its own. */
const introduced = `
import type { Session, Terminal, Trl, XtermLike } from "trl/client";
declare global {
  const trl: Trl;
  let session: Session;
  const terminal: Terminal;
  const xterm: XtermLike;
  const connect: typeof import("trl/client").connect;
  const attachXterm: typeof import("trl/client").attachXterm;
  const token: string;
  /** Whatever the reader does with it. */
  const show: (...values: unknown[]) => void;
}
`;

const settings = {
  compilerOptions: {
    target: "esnext",
    module: "preserve",
    moduleResolution: "bundler",
    moduleDetection: "force",
    lib: ["esnext", "dom", "dom.iterable"],
    types: ["node"],
    noEmit: true,
    strict: true,
    noImplicitAny: false, // there are fragments in JavaScript
    allowJs: true,
    checkJs: true,
    skipLibCheck: true,
  },
};

/** What the compiler says, a line each, with the lines of the pages. */
export function complaintsAbout(fragments: Fragment[]): string[] {
  using dir = tempDir();
  mkdirSync(join(dir.path, "node_modules"));
  symlinkSync(root, join(dir.path, "node_modules/trl"));
  for (const name of ["@types", "@xterm"])
    symlinkSync(join(root, "node_modules", name), join(dir.path, "node_modules", name));
  writeFileSync(join(dir.path, "tsconfig.json"), JSON.stringify(settings));
  writeFileSync(join(dir.path, "introduced.d.ts"), introduced);
  // Lines are those of the page, so that what the compiler says leads there.
  for (const { page, line, language, code } of fragments)
    writeFileSync(
      join(dir.path, `${page.replaceAll("/", "-")}-${line}.${language}`),
      "\n".repeat(line) + code,
    );
  const tsc = join(root, "node_modules/.bin/tsc");
  const { exitCode, stdout, stderr } = Bun.spawnSync([tsc, "-p", dir.path, "--pretty", "false"], {
    cwd: dir.path,
    stdin: "ignore",
  });
  const lines = `${stdout}${stderr}`.split("\n").filter((line) => line !== "");
  if (exitCode !== 0 && lines.length === 0) throw new Error(`the compiler ended with ${exitCode}`);
  return lines;
}
