// Rejects unknown flags, missing values and surplus words, which citty accepts silently.
import type { ArgsDef } from "citty";
import { nearest } from "../util/nearest.ts";
import { CliError, usageExitCode } from "./errors.ts";
import { aliasesOf } from "./ui/help.ts";

export interface FlagRules {
  /** Words such as -5 are text, not flags. */
  takesNumbers?: boolean;
}

export function checkFlags(rawArgs: string[], args: ArgsDef, { takesNumbers = false }: FlagRules = {}): void {
  const kinds = new Map(
    Object.entries(args).flatMap(([name, arg]) => [name, ...aliasesOf(arg)].map((it) => [it, arg.type])),
  );
  const words = [...rawArgs];
  for (let word = words.shift(); word !== undefined && word !== "--"; word = words.shift()) {
    const [, name, inline] = /^--?([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === undefined || (takesNumbers && /^-\d/.test(word))) continue;
    if (kinds.get(name) === "string") checkValue(word, inline ?? words.shift(), kinds);
    else if (kinds.get(name) === "boolean" && inline !== undefined) throw unexpectedValue(name);
    else if (!kinds.has(name) && kinds.get(name.replace(/^no-/, "")) !== "boolean")
      throw unknownFlag(word, name, [...kinds.keys()]);
  }
}

/** Without this check, a missing value would be the next word or the empty string. */
function checkValue(flag: string, value: string | undefined, known: Map<string, unknown>): void {
  const isFlag = value?.startsWith("--") && (value === "--" || known.has(value.slice(2).split("=")[0]!));
  if (flag.includes("=") ? value !== "" : value && !isFlag) return;
  throw new CliError(`${flag.split("=")[0]} needs a value`, usageExitCode, "--help lists the flags");
}

/** citty would read any value, even `false`, as true. */
function unexpectedValue(name: string): CliError {
  const flag = name.length === 1 ? `-${name}` : `--${name}`;
  return new CliError(`${flag} takes no value`, usageExitCode, "it is on when it is given");
}

function unknownFlag(word: string, name: string, known: string[]): CliError {
  const meant = nearest(name, known);
  const hint = meant ? `is it meant to be --${meant}?` : "--help lists the flags";
  return new CliError(`unknown flag ${word.split("=")[0]}`, usageExitCode, hint);
}

/** For verbs that take only flags before `--`. */
export function refuseWords([word]: string[]): void {
  if (word !== undefined) throw new CliError(`"${word}" is one word too many`, usageExitCode);
}
