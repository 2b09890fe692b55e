#!/usr/bin/env bun
// Entry: verbs, help and version. Flags alone mean `serve`, as the launchers of claw_core start it.
import { runCommand } from "citty";
import { CliError, reportError, usageExitCode } from "./cli/errors.ts";
import { print } from "./cli/print.ts";
import { generalHelp, helpForVerb, verbs } from "./cli/verbs.ts";
import { nearest } from "./util/nearest.ts";
import { version } from "./util/version.ts";

async function main(words: string[]): Promise<void> {
  const [first = ""] = words;
  const verb = Object.hasOwn(verbs, first) ? first : undefined;
  if (first === "--version" || first === "-V" || first === "version") return print(`trl ${version}\n`);
  if (wantsHelp(words)) return print(`${await helpFor(words)}\n`);
  if (!verb && words.length > 0 && !first.startsWith("-")) throw unknownVerb(first);
  const command = await verbs[verb ?? "serve"]!.load();
  await runCommand(command, { rawArgs: verb ? words.slice(1) : words });
}

function wantsHelp(words: string[]): boolean {
  const separator = words.indexOf("--");
  const own = separator === -1 ? words : words.slice(0, separator);
  return own[0] === "help" || own.includes("--help") || own.includes("-h");
}

/** `trl help run` is `trl run --help`. */
async function helpFor([first = "", second = ""]: string[]): Promise<string> {
  const word = first === "help" ? second : first;
  if (Object.hasOwn(verbs, word)) return await helpForVerb(word);
  if (word === "" || word === "help" || word.startsWith("-")) return await generalHelp(version);
  throw unknownVerb(word);
}

function unknownVerb(word: string): CliError {
  const meant = nearest(word, Object.keys(verbs));
  const hint = meant ? `is it meant to be "trl ${meant}"?` : "trl --help lists the commands";
  return new CliError(`there is no command "${word}"`, usageExitCode, hint);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.exitCode = reportError(error);
}
// Standard input may still be open; what was asked for is done.
process.exit();
