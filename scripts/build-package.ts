// Builds what `package.json` exports: JavaScript for Node.js, Bun and browsers, its types, and the contract as JSON
// Schema for other languages. Each file is self-contained and has no dependencies.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { contractSchemas } from "../src/protocol/json-schema.ts";

const outDir = "dist/package";

export async function buildPackage(): Promise<void> {
  rmSync(outDir, { recursive: true, force: true });
  await bundle("client", "node");
  await bundle("client-browser", "browser");
  await bundle("protocol", "browser");
  writeFileSync(`${outDir}/protocol.schema.json`, `${JSON.stringify(contractSchemas(), undefined, 2)}\n`);
  emitTypes();
}

async function bundle(name: string, target: "node" | "browser"): Promise<void> {
  const result = await Bun.build({
    entrypoints: [`src/package/${name}.ts`],
    outdir: outDir,
    target,
    format: "esm",
    sourcemap: "linked",
    // Optional: only engines without a WebSocket import it.
    external: ["ws"],
    define: { "process.env.NODE_ENV": '"production"' },
  });
  if (!result.success) throw new AggregateError(result.logs, `${name} could not be built`);
}

/** Declarations import `.ts` names, but the package has only `.d.ts` files, so the names become `.js`. */
function emitTypes(): void {
  const { exitCode, stdout } = Bun.spawnSync(["tsc", "-p", "tsconfig.package.json"], { stdin: "ignore" });
  if (exitCode !== 0) throw new Error(`the types could not be built:\n${stdout}`);
  const types = join(outDir, "types");
  for (const file of readdirSync(types, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".d.ts")) continue;
    const text = readFileSync(join(types, file), "utf8");
    writeFileSync(
      join(types, file),
      text.replaceAll(/((?:from|import) "\.[^"]*|import\("\.[^"]*)\.ts"/g, '$1.js"'),
    );
  }
}
