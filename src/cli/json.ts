// `--json`: for programs that read what a verb says.
import type { ArgsDef } from "citty";

export const jsonArgs = {
  json: { type: "boolean", description: "Print JSON, errors (on stderr) as well" },
} as const satisfies ArgsDef;

/** For verbs that print nothing of their own. */
export const jsonErrorArgs = {
  json: { type: "boolean", description: "Print errors as JSON, on stderr" },
} as const satisfies ArgsDef;

export async function printJson(value: unknown): Promise<void> {
  await print(`${JSON.stringify(value)}\n`);
}

/** Resolves when all of it is written: more than a pipe holds would be cut off by our end. */
export async function print(text: string): Promise<void> {
  await Bun.write(Bun.stdout, text);
}

/** By the words themselves: a command line that cannot be read is to be told in JSON, too. */
export function asksForJson(words: string[]): boolean {
  const separator = words.indexOf("--");
  return (separator === -1 ? words : words.slice(0, separator)).some((word) =>
    /^--json(?:=true)?$/.test(word),
  );
}
