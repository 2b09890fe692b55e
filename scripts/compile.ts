// Compiles the executable for one platform, and signs it where that is macOS.
import { rmSync } from "node:fs";
import { signExecutable } from "./macho/sign.ts";

export const targets = [
  "linux-x64",
  "linux-arm64",
  "linux-x64-musl",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
] as const;
export type Target = (typeof targets)[number];

/** For this machine where no target is named. Expects the directory of the project as the working directory. */
export async function compile(outfile: string, target?: Target): Promise<void> {
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
  if ((target ?? process.platform).startsWith("darwin")) signExecutable(outfile);
}
