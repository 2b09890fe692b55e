// The example as somebody has it who has installed it, with the stand-in where Electrobun would be.
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { tempDir } from "../temp-dir.ts";
import type { ElectrobunConfig } from "./config.ts";

const root = join(import.meta.dir, "../../..");

export interface Project extends Disposable {
  /** Runs the main process here. */
  startMain(): Promise<{ openWindow(): void }>;
  /** What `views://mainview/` has after a build, by name. */
  buildView(): Promise<Map<string, Blob>>;
}

export async function installExample(): Promise<Project> {
  const dir = tempDir();
  const at = (...path: string[]) => join(dir.path, ...path);
  cpSync(join(root, "examples/electrobun"), dir.path, { recursive: true });
  mkdirSync(at("node_modules"));
  symlinkSync(root, at("node_modules/trl"));
  symlinkSync(join(root, "node_modules/@xterm"), at("node_modules/@xterm"));
  symlinkSync(import.meta.dir, at("node_modules/electrobun"));
  const { build } = (await import(at("electrobun.config.ts"))).default as ElectrobunConfig;
  return {
    startMain: () => import(at(build.bun.entrypoint)),
    async buildView() {
      const entrypoint = at(build.views["mainview"]!.entrypoint);
      const { outputs } = await Bun.build({ entrypoints: [entrypoint], target: "browser" });
      const copied = Object.entries(build.copy).map(
        ([from, to]) => [relative("views/mainview", to), Bun.file(at(from))] as const,
      );
      return new Map<string, Blob>([["index.js", outputs[0]!], ...copied]);
    },
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  };
}
