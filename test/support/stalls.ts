// What daemons with a stall guard (src/platform/linux/stall-guard.ts) have written down: turns of their event loops in which
// every client waited, and what they did meanwhile.
import { existsSync, readFileSync } from "node:fs";

interface Stall {
  tookMs: number;
  /** The most common first. */
  stacks: string[];
}

/** Turns that are known to take longer, up to so long, and are left so. */
const exceptions: { of: RegExp; maxMs: number; why: string }[] = [
  {
    of: /\b(?:protocol\/frame|exec\/gather)\.ts|^encode < #\w+ src\/server\/dispatch\.ts/,
    maxMs: 400,
    why: "a reply is one JSON text, and max_output_bytes allows 64 MiB of output in it",
  },
  {
    of: /\bprocess\/stream-log\.ts/,
    maxMs: 200,
    why: "what is kept of such an output is copied as it grows, the last time from 32 to 64 MiB",
  },
];

/** By the innermost function that has a file, in the stack with one that was met most often; the engine's have none. */
function isException({ tookMs, stacks }: Stall): boolean {
  const most = stacks.find((stack) => /\.ts\b/.test(stack)) ?? "";
  const innermost = /^.*?\.ts/.exec(most.replace(/^\d+ x /, ""))?.[0] ?? "";
  return exceptions.some(({ of, maxMs }) => of.test(innermost) && tookMs <= maxMs);
}

/** All but the exceptions. */
export function stallsIn(file: string): string[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines
    .map((line) => JSON.parse(line) as Stall)
    .filter((stall) => !isException(stall))
    .map(({ tookMs, stacks }) => [`${Math.round(tookMs)} ms`, ...stacks].join("\n    "));
}
