// What daemons with a stall guard (src/daemon/stall-guard-linux.ts) have written down: turns of their event loops in which
// every client waited, and what they did meanwhile.
import { existsSync, readFileSync } from "node:fs";

export function stallsIn(file: string): string[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => {
    const { tookMs, stacks } = JSON.parse(line) as { tookMs: number; stacks: string[] };
    return [`${Math.round(tookMs)} ms`, ...stacks].join("\n    ");
  });
}
