// citty takes any flag; a misspelt one is better told than ignored.
import type { ArgsDef } from "citty";
import { nearest } from "../util/nearest.ts";
import { CliError, usageExitCode } from "./errors.ts";
import { aliasesOf } from "./help.ts";

export function checkFlags(rawArgs: string[], args: ArgsDef): void {
  const known = Object.entries(args).flatMap(([name, arg]) => [name, ...aliasesOf(arg)]);
  for (const word of rawArgs) {
    if (word === "--") return;
    const name = /^--?([^=]+)/.exec(word)?.[1];
    if (name === undefined || /^-?\d/.test(word) || known.includes(name.replace(/^no-/, ""))) continue;
    const meant = nearest(name, known);
    const hint = meant ? `is it meant to be --${meant}?` : "--help lists the flags";
    throw new CliError(`unknown flag ${word.split("=")[0]}`, usageExitCode, hint);
  }
}
