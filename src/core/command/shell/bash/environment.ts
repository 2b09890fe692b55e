// What a bash in a certain state gives to the programs that it starts: read from the script that makes a shell like it,
// as this file's neighbours write it. A script that holds anything else is not understood, and nothing is known then.

import { type ByteString, textOf } from "../../../process/byte-string.ts";
import type { ExportChanges, ShellState } from "../dialect.ts";
import { type BashRecord, recordsFrom, restoring } from "./records.ts";

const options = /(?:shopt -[su] [\w ]+\n)*/y;
const unsettings = /(?:unset [\w ]+\n)*/y;
/** Missing until a shell has reported all of its state: it is the daemon's then. */
const mask = /(?:umask (\d+)\n\n)?/y;
/** Options of the shell, and functions that are its own: no program sees them. */
const unseen =
  /(?:builtin set (?:[-+]o [\w-]+ ?)+\n)*(?:shopt -s extglob\n(?:__trl_define '[^']*(?:'\\''[^']*)*'\n)+builtin unset -f __trl_define\n#lines[^\n]*\n\n(?:builtin shopt -u extglob\n)?)?$/y;

/** Undefined where not all that a program would be given is known to be so. */
export function exportsIn({ script }: ShellState): ExportChanges | undefined {
  if (script === "") return { unset: [], set: {} };
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(script);
    at += found?.[0].length ?? 0;
    return found;
  };
  const { unset, records, end } = variablesIn(script);
  at = end;
  const [, umask] = take(mask) ?? [];
  if ((umask !== undefined && Number.parseInt(umask, 8) !== ownUmask()) || !take(unseen)) return undefined;
  return withRecords(unset, records);
}

/** What it says of variables comes behind options, and where that ends. */
function variablesIn(script: ByteString) {
  options.lastIndex = 0;
  unsettings.lastIndex = options.exec(script)![0].length;
  const [unsetLines] = unsettings.exec(script)!;
  const unset = unsetLines.split(/\s/).filter((name) => name !== "unset" && name !== "");
  const start = unsettings.lastIndex;
  return { unset, start, ...recordsFrom(script, start) };
}

const known = new WeakMap<ShellState, Map<string, BashRecord[]>>();

/** What a state says of each of its variables; looked for once. */
export function recordsIn(state: ShellState): ReadonlyMap<string, readonly BashRecord[]> {
  const before = known.get(state);
  if (before) return before;
  const records = Map.groupBy(variablesIn(state.script).records, ({ name }) => name);
  known.set(state, records);
  return records;
}

/** The same script with these variables as they are now. */
export function withVariables(script: ByteString, changed: readonly BashRecord[]): ByteString {
  if (changed.length === 0) return script;
  const { records, start, end } = variablesIn(script);
  const names = new Set(changed.map(({ name }) => name));
  const kept = records.filter(({ name }) => !names.has(name)).map(({ text }) => text);
  return script.slice(0, start) + [...kept, ...changed.map(restoring)].join("") + script.slice(end);
}

function withRecords(unset: string[], records: BashRecord[]): ExportChanges | undefined {
  const set: Record<string, string> = {};
  for (const { name, flags, text } of records) {
    if (name === "EXECIGNORE") return undefined; // it has a say in which file is the program
    const value = flags.includes("x") && !/[aAn]/.test(flags) ? readValue(text) : null;
    if (value === undefined) return undefined;
    if (Object.hasOwn(set, name) && !text.includes("=")) continue; // an attribute more
    if (value === null) unset.push(name);
    else set[name] = value;
  }
  return { unset, set };
}

const doubleQuoted = /="([^"\\]*(?:\\[\\$`"][^"\\]*)*)"\n$/;
const dollarQuoted = /=\$'([^'\\]*(?:\\(?:[abEfnrtv\\']|[0-7]{3})[^'\\]*)*)'\n$/;
const escapes: Record<string, string> = {
  ...{ a: "\x07", b: "\b", E: "\x1b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v", "\\": "\\", "'": "'" },
};

/** Null where it has none; undefined where it cannot be read, or is no text. */
function readValue(record: ByteString): string | null | undefined {
  if (!record.includes("=")) return null;
  const [, plain] = doubleQuoted.exec(record) ?? [];
  const [, escaped] = plain === undefined ? (dollarQuoted.exec(record) ?? []) : [];
  const value =
    plain?.replaceAll(/\\([\s\S])/g, "$1") ??
    escaped?.replaceAll(/\\(\d{3}|[\s\S])/g, (_, code: string) =>
      code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : escapes[code]!,
    );
  if (value === undefined) return undefined;
  return textOf(value);
}

let umaskHere: number | undefined;
/** The daemon's, and so that of every program that it starts. */
const ownUmask = (): number => (umaskHere ??= process.umask());
