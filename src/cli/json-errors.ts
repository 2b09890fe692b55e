// Errors for programs: `--json` makes of each a line of JSON on stderr.
import type { ArgsDef } from "citty";

/** For verbs that print nothing of their own. */
export const jsonErrorArgs = {
  json: { type: "boolean", description: "Print errors as JSON" },
} as const satisfies ArgsDef;

/** By the words themselves: a command line that cannot be read is to be told in JSON, too. */
export function asksForJson(words: string[]): boolean {
  const separator = words.indexOf("--");
  const own = separator === -1 ? words : words.slice(0, separator);
  return own.some((word) => /^--json(?:=true)?$/.test(word));
}
