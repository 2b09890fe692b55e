// `--json` prints each error as one line of JSON on stderr.
import type { ArgsDef } from "citty";

/** For verbs without JSON output. */
export const jsonErrorArgs = {
  json: { type: "boolean", description: "Print errors as JSON" },
} as const satisfies ArgsDef;

/** Reads the raw words, so that errors of parsing the command line are JSON, too. */
export function asksForJson(words: string[]): boolean {
  const separator = words.indexOf("--");
  const own = separator === -1 ? words : words.slice(0, separator);
  return own.some((word) => /^--json(?:=true)?$/.test(word));
}
