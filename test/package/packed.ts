// The package as whoever installs it gets it: packed, unpacked, beside what it depends on.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "../support/temp-dir.ts";

export const root = join(import.meta.dir, "../..");

export interface Packed extends Disposable {
  dir: string;
  files: string[];
  /** Runs a program there, to its end. */
  run(...command: string[]): { exitCode: number; stdout: string; stderr: string };
  write(name: string, text: string): void;
}

export function pack(): Packed {
  const temp = tempDir();
  const dir = temp.path;
  const run = (...command: string[]) => inDir(dir, command);
  const packing = inDir(root, ["npm", "pack", "--ignore-scripts", "--json", "--pack-destination", dir]);
  if (packing.exitCode !== 0) throw new Error(packing.stderr);
  const [{ filename, files }] = JSON.parse(packing.stdout) as [
    { filename: string; files: { path: string }[] },
  ];
  mkdirSync(join(dir, "node_modules/trl"), { recursive: true });
  run("tar", "-xzf", filename, "-C", "node_modules/trl", "--strip-components=1");
  for (const name of ["valibot", "@valibot", "ws", "@types"])
    symlinkSync(join(root, "node_modules", name), join(dir, "node_modules", name));
  return {
    dir,
    files: files.map(({ path }) => path),
    run,
    write: (name, text) => writeFileSync(join(dir, name), text),
    [Symbol.dispose]: () => temp[Symbol.dispose](),
  };
}

function inDir(cwd: string, command: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd, stdin: "ignore" });
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}
