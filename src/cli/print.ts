// What a verb has to say on standard output: all of it, however slowly it is read, and quietly where nobody reads.
import { writeSync } from "node:fs";
import type { ArgsDef } from "citty";

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

export const printJson = (value: unknown): void => print(`${JSON.stringify(value)}\n`);

/** What a person is to know beside the result. */
export const note = (text: string): void => void process.stderr.write(`trl: ${text}\n`);
