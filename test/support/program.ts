// The program under test is the compiled executable: what people download is what is tested.
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { quoteWord } from "../../src/cli/shell-words.ts";

const root = join(import.meta.dir, "../..");
export const binary = join(root, "dist/trl");
/** The same as a word of a shell's line. */
export const shellBinary = quoteWord(binary);

if (!existsSync(binary)) throw new Error("dist/trl is missing: run `npx bun run build` first");
const builtAt = statSync(binary).mtimeMs;
for (const file of new Bun.Glob("src/**/*.ts").scanSync(root)) {
  if (statSync(join(root, file)).mtimeMs > builtAt)
    throw new Error(`dist/trl is older than ${file}: run \`npx bun run build\``);
}
