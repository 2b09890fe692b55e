import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Bench } from "../harness/scenario.ts";

const line = "The quick brown fox jumps over the lazy dog, 0123456789 times a day.\n";

/** A file of ordinary lines, made once a run. */
export function textFile({ dir }: Bench, bytes: number): string {
  const path = join(dir, `text-${bytes}`);
  if (!existsSync(path)) writeFileSync(path, line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes));
  return path;
}
