// Parses what `declare -p` of bash prints into records of one variable each. Values may contain newlines and quotes.
import { type ByteString, fromText } from "../../../process/byte-string.ts";

export interface BashRecord {
  name: string;
  flags: string;
  text: ByteString;
}

const head = /declare -([-a-zA-Z]+) ([A-Za-z_]\w*)(=?)/y;

/** Text that is not a record is left out, because the restoring shell would run it as commands. */
export function parseRecords(text: ByteString): BashRecord[] {
  const found: BashRecord[][] = [];
  for (let at = 0; ; ) {
    const { records, end } = recordsFrom(text, at);
    found.push(records);
    at = text.indexOf("\ndeclare -", end) + 1;
    if (at === 0) return found.flat();
  }
}

/** Consecutive records from an offset on, and the offset after the last one. */
export function recordsFrom(text: ByteString, from: number): { records: BashRecord[]; end: number } {
  const records: BashRecord[] = [];
  for (let at = from; ; ) {
    head.lastIndex = at;
    const match = at < text.length ? head.exec(text) : null;
    const end = match && (match[3] === "=" ? endOfValue(text, head.lastIndex) : head.lastIndex);
    if (!match || !end || text[end] !== "\n") return { records, end: at };
    records.push({ flags: match[1]!, name: match[2]!, text: text.slice(at, end + 1) });
    at = end + 1;
  }
}

/** The offset after the value; 0 if it has no end. A regular expression would fail on a value with many escapes. */
function endOfValue(text: ByteString, at: number): number {
  const first = text[at];
  if (first === '"') return endOfEscaped(text, at + 1, '"');
  if (first === "$" && text[at + 1] === "'") return endOfEscaped(text, at + 2, "'");
  if (first === "'") return endOfSingleQuoted(text, at + 1);
  return first === "(" ? endOfArray(text, at + 1) : 0;
}

function endOfEscaped(text: ByteString, from: number, quote: string): number {
  for (let at = text.indexOf(quote, from); at !== -1; at = text.indexOf(quote, at + 1)) {
    let before = at;
    while (before > from && text[before - 1] === "\\") before--;
    if ((at - before) % 2 === 0) return at + 1;
  }
  return 0;
}

/** bash before 4.4 prints arrays in single quotes. */
function endOfSingleQuoted(text: ByteString, from: number): number {
  for (let at = text.indexOf("'", from); at !== -1; at = text.indexOf("'", at + 4))
    if (!text.startsWith("'\\''", at)) return at + 1;
  return 0;
}

const special = /["'()]/g;

function endOfArray(text: ByteString, from: number): number {
  for (let at = from; at > 0; ) {
    special.lastIndex = at;
    const found = special.exec(text);
    if (!found || found[0] === "(") return 0;
    if (found[0] === ")") return found.index + 1;
    const isQuote = found[0] === '"' || text[found.index - 1] === "$";
    at = isQuote ? endOfEscaped(text, found.index + 1, found[0]) : 0;
  }
  return 0;
}

/** Whether a new shell inherits the variable with this value from its launch environment. */
export function isInherited({ name, text }: BashRecord, launchEnv: Record<string, string>): boolean {
  const inherited = launchEnv[name];
  if (inherited === undefined || /["\\$`\x00-\x1f\x7f-\uffff]/.test(inherited)) return false;
  return text === `declare -x ${name}="${fromText(inherited)}"\n`;
}

/** A plain number, which bash evaluates to itself when it assigns it to an integer variable. */
const wholeNumber = /="-?(?:0|[1-9]\d{0,17})"\n$/;

/** Of the flags, those that change the value on assignment: capitalize, integer, lowercase, uppercase. */
export const valueChangingFlags = (flags: string): string => flags.replaceAll(/[^cilu]/g, "");

/**
 * Lines that restore the variable. Attributes that change a value are set after the assignment, as the variable may have
 * got them after its value: bash would evaluate the value of an integer, and an error would end the whole script.
 */
export function restoreLines({ flags, name, text }: BashRecord): ByteString {
  const changing = valueChangingFlags(flags);
  if (changing === "" || !text.includes("=") || (changing === "i" && wholeNumber.test(text))) return text;
  const first = flags.replaceAll(/[cilur]/g, "") || "-";
  const later = flags.includes("r") ? `${changing}r` : changing;
  return `declare -${first} ${text.slice(`declare -${flags} `.length)}declare -${later} ${name}\n`;
}
