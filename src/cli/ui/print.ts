// Prints results on stdout and notices on stderr. A slow reader blocks, a closed pipe is ignored.
import { writeSync } from "node:fs";
import type { ArgsDef } from "citty";
import { acting, harmless } from "./format.ts";

export const jsonArgs = {
  json: { type: "boolean", description: "Print JSON" },
} as const satisfies ArgsDef;

export function print(text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EPIPE") return;
      if (code !== "EAGAIN") throw error;
      Bun.sleepSync(1);
    }
  }
}

export const printJson = (value: unknown): void => print(`${jsonText(value)}\n`);

/**
 * JSON leaves DEL, C1 controls, bidirectional marks and line separators as they are, and a terminal acts on them:
 * they become escapes of the same value.
 */
export const jsonText = (value: unknown): string => JSON.stringify(value).replaceAll(acting, asEscapes);

const asEscapes = (character: string): string =>
  character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");

/** A notice on stderr, beside the result. */
export const note = (text: string): void => void process.stderr.write(`trl: ${harmless(text)}\n`);
