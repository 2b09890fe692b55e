// Compiles the one executable: for this machine by default, for all platforms with --all, with checksums. Builds the
// package that clients import as well; with --package only that.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { buildPackage } from "./scripts/build-package.ts";
import { compile, targets } from "./scripts/compile.ts";
import { version } from "./src/util/version.ts";

const outDir = "dist";

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
