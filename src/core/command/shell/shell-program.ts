// Turns a shell program, a file imported as text, into what the shell reads: without comments, blank lines and
// indentation, which cost the shell time to parse, and with values for its placeholders.
import type { ByteString } from "../../process/byte-string.ts";

/** `REPORT_FILE` is the value of `@REPORT_FILE@`. Values are inserted as they are: words must be quoted. */
export type PlaceholderValues = Readonly<Record<string, ByteString>>;

/** Lines inside of a multi-line string must not begin with blanks or `#`: they would be dropped as well. */
const readersOnly = /^[ \t]*(?:#.*)?\n|^[ \t]+/gm;
/** A placeholder on a line of its own stands for whole lines, or none: its newline belongs to it. */
const placeholder = /@([A-Z][A-Z_]*)@(?:(?<=^@\w+@)\n)?/m;

/** Splits the program once, at module load; the returned function fills in the values. */
export function shellProgram(text: string): (values?: PlaceholderValues) => ByteString {
  // A regular expression with a group: odd pieces are the names of placeholders.
  const pieces = text.replaceAll(readersOnly, "").split(placeholder);
  return (values = {}) =>
    pieces.map((piece, at) => (at % 2 === 0 ? piece : requiredValue(piece, values))).join("");
}

function requiredValue(name: string, values: PlaceholderValues): ByteString {
  const value = values[name];
  if (value === undefined) throw new Error(`the shell program has no value for @${name}@`);
  return value;
}
