// The executable, run to its end.
import { binary } from "./program.ts";

export interface TrlOptions {
  env?: Record<string, string>;
  cwd?: string;
}

export function trl(words: string[], { env = {}, cwd = "/tmp" }: TrlOptions = {}) {
  const result = Bun.spawnSync([binary, ...words], {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env } as Record<string, string>,
    cwd,
    stdin: "ignore",
    timeout: 25_000,
  });
  return { code: result.exitCode, out: result.stdout.toString(), err: result.stderr.toString() };
}
