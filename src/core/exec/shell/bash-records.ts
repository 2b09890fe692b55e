// What `declare -p` of bash prints, record by record, exactly: a value may hold newlines and quotes.
import { type ByteString, fromText } from "./byte-string.ts";

export interface BashRecord {
  name: string;
  flags: string;
  text: ByteString;
}

// Runs of plain characters are one step: a megabyte that is taken apart one by one takes most of a second.
const doubleQuoted = String.raw`"[^"\\]*(?:\\[\s\S][^"\\]*)*"`;
const dollarQuoted = String.raw`\$'[^'\\]*(?:\\[\s\S][^'\\]*)*'`;
const singleQuoted = String.raw`'[^']*(?:'\\''[^']*)*'`; // arrays, before bash 4.4
const array = String.raw`\([^"'()]*(?:(?:${doubleQuoted}|${dollarQuoted})[^"'()]*)*\)`;
const value = `(?:${doubleQuoted}|${dollarQuoted}|${singleQuoted}|${array})`;
const record = new RegExp(String.raw`declare -([-a-zA-Z]+) ([A-Za-z_]\w*)(?:=${value})?\n`, "y");

/** Undefined where it is not what it should be; then it is better taken as a whole. */
export function parseRecords(text: ByteString): BashRecord[] | undefined {
  const { records, end } = recordsFrom(text, 0);
  return end === text.length ? records : undefined;
}

/** As many as there are from there on, and where they end. */
export function recordsFrom(text: ByteString, from: number): { records: BashRecord[]; end: number } {
  const records: BashRecord[] = [];
  for (let at = from; ; at = record.lastIndex) {
    record.lastIndex = at;
    const match = at < text.length ? record.exec(text) : null;
    if (!match) return { records, end: at };
    records.push({ flags: match[1]!, name: match[2]!, text: match[0] });
  }
}

/** Whether a shell that is started with this variable has it so without being told. */
export function isInherited({ name, text }: BashRecord, launchEnv: Record<string, string>): boolean {
  const inherited = launchEnv[name];
  if (inherited === undefined || /["\\$`\x00-\x1f\x7f-\uffff]/.test(inherited)) return false;
  return text === `declare -x ${name}="${fromText(inherited)}"\n`;
}
