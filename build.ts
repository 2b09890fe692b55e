// Compiles the one executable: for this machine by default, for all platforms with --all, with checksums. Builds the
// package that clients import as well; with --package only that.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { buildPackage } from "./scripts/build-package.ts";
import { version } from "./src/util/version.ts";

const outDir = "dist";
const targets = [
  "linux-x64",
  "linux-arm64",
  "linux-x64-musl",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
] as const;

async function compile(outfile: string, target?: (typeof targets)[number]): Promise<void> {
  const result = await Bun.build({
    entrypoints: ["src/main.ts"],
    target: "bun",
    minify: true,
    sourcemap: "inline",
    bytecode: true,
    format: "esm",
    splitting: true, // each verb loads only its own chunks
    define: { "process.env.NODE_ENV": '"production"' },
    compile: {
      outfile,
      ...(target ? { target: `bun-${target}` as Bun.Build.CompileTarget } : {}),
      // The executable must not read configuration from its working directory.
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
  });
  if (!result.success) throw new AggregateError(result.logs, `${outfile} could not be built`);
  // Source maps are embedded in the executable.
  for (const { kind, path } of result.outputs) if (kind === "sourcemap") rmSync(path, { force: true });
}

async function buildAll(): Promise<void> {
  const sums: string[] = [];
  for (const target of targets) {
    const name = `trl-${target}`;
    await compile(`${outDir}/${name}`, target);
    const sum = createHash("sha256")
      .update(readFileSync(`${outDir}/${name}`))
      .digest("hex");
    sums.push(`${sum}  ${name}\n`);
    console.log(`built ${outDir}/${name}`);
  }
  writeFileSync(`${outDir}/SHA256SUMS`, sums.join(""));
}

mkdirSync(outDir, { recursive: true });
if (process.argv.includes("--all")) await buildAll();
else if (!process.argv.includes("--package")) await compile(`${outDir}/trl`);
await buildPackage();
console.log(`trl ${version} is in ${outDir}/`);
