// Variables in the script of a bash state: which of them programs get, and replacing some of them. It reads scripts as
// report.ts writes them; of a script with anything else in it, the exported variables are unknown.
import { lazy } from "../../../../util/lazy.ts";
import { type ByteString, textOf } from "../../../process/byte-string.ts";
import type { ExportChanges, ShellState } from "../dialect.ts";
import { type BashRecord, recordsFrom, restoreLines } from "./records.ts";

const options = /(?:shopt -[su] [\w ]+\n)*/y;
const unsettings = /(?:unset [\w ]+\n)*/y;
/** Absent until the first whole report; the session then has the daemon's umask. */
const mask = /(?:umask (\d+)\n\n)?/y;
/** Options of the shell, and functions that are not exported: programs do not get them. */
const notForPrograms =
  /(?:builtin set (?:[-+]o [\w-]+ ?)+\n)*(?:shopt -s extglob\n(?:__trl_define '[^']*(?:'\\''[^']*)*'\n)+builtin unset -f __trl_define\n#lines[^\n]*\n\n(?:builtin shopt -u extglob\n)?)?$/y;

/** Undefined if a variable that a program would get is not certain. */
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
  if ((umask !== undefined && Number.parseInt(umask, 8) !== ownUmask()) || !take(notForPrograms))
    return undefined;
  return withRecords(unset, records);
}

/** The part of a script between its options and its umask: names to unset, then records of variables. */
function variablesIn(script: ByteString) {
  options.lastIndex = 0;
  unsettings.lastIndex = options.exec(script)![0].length;
  const [unsetLines] = unsettings.exec(script)!;
  const unset = unsetLines.split(/\s/).filter((name) => name !== "unset" && name !== "");
  const start = unsettings.lastIndex;
  return { unset, start, ...recordsFrom(script, start) };
}

/** A state is immutable, so its records are parsed once. */
const recordsCache = new WeakMap<ShellState, Map<string, BashRecord[]>>();

/** Records of a state's variables by name. */
export function recordsIn(state: ShellState): ReadonlyMap<string, readonly BashRecord[]> {
  const cached = recordsCache.get(state);
  if (cached) return cached;
  const records = Map.groupBy(variablesIn(state.script).records, ({ name }) => name);
  recordsCache.set(state, records);
  return records;
}

/** Flags of `declare` for a variable of the session; empty if the state does not contain it. */
export const attributesOf = (name: string, state: ShellState): string =>
  (recordsIn(state).get(name) ?? []).map(({ flags }) => flags).join("");

/** The script with new records of the changed variables. */
export function withVariables(script: ByteString, changed: readonly BashRecord[]): ByteString {
  if (changed.length === 0) return script;
  const { records, start, end } = variablesIn(script);
  const names = new Set(changed.map(({ name }) => name));
  const kept = records.filter(({ name }) => !names.has(name)).map(({ text }) => text);
  return script.slice(0, start) + [...kept, ...changed.map(restoreLines)].join("") + script.slice(end);
}

function withRecords(unset: string[], records: BashRecord[]): ExportChanges | undefined {
  const set: Record<string, string> = {};
  for (const { name, flags, text } of records) {
    if (name === "EXECIGNORE") return undefined; // it decides which file is the program
    const value = flags.includes("x") && !/[aAn]/.test(flags) ? readValue(text) : null;
    if (value === undefined) return undefined;
    if (Object.hasOwn(set, name) && !text.includes("=")) continue; // adds an attribute only
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

/** Null if the variable has no value; undefined if the value cannot be parsed or is not UTF-8. */
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

/** The umask of the daemon, which programs that it starts inherit. */
const ownUmask = lazy(() => process.umask());
