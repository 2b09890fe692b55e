// What a daemon loads before it listens. Each of the runtime's modules that bring its streams along costs milliseconds.
import { expect, test } from "bun:test";
import { join } from "node:path";

const lean = ["buffer", "bun:ffi", "fs", "os", "path", "util"];

test("a start brings along none of the runtime's streams", async () => {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, "../../src/cli/commands/serve.ts")],
    target: "bun",
    splitting: true,
  });
  const text = await outputs.find(({ kind }) => kind === "entry-point")!.text();
  const chunks = new Map(outputs.map((output) => [`./${output.path.replace(/^\.\//, "")}`, output]));
  const loaded = new Set<string>();
  const seen = new Set<string>();
  const follow = async (source: string): Promise<void> => {
    for (const { path, kind } of new Bun.Transpiler({ loader: "js" }).scanImports(source)) {
      if (kind !== "import-statement" || seen.has(path)) continue;
      seen.add(path);
      const chunk = chunks.get(path);
      if (chunk) await follow(await chunk.text());
      else loaded.add(path.replace(/^node:/, ""));
    }
  };
  await follow(text);
  expect([...loaded].sort()).toEqual(lean);
});
