// Runs the verb, help or version that the command line asks for.
import { runCommand } from "citty";
import { nearest } from "../util/nearest.ts";
import { version } from "../util/version.ts";
import { generalHelp, helpForVerb, verbs } from "./commands.ts";
import { CliError, printAtOnce, reportError, usageExitCode } from "./errors.ts";
import { print } from "./ui/print.ts";

/** Never throws: errors are printed and set the exit code. */
export async function run(words: string[]): Promise<void> {
  try {
    await answer(words);
  } catch (error) {
    process.exitCode = asksForDaemon(words) ? reportError(error, printAtOnce) : reportError(error);
  }
}

async function answer(words: string[]): Promise<void> {
  if (asksForVersion(words)) return print(`trl ${version}\n`);
  if (asksForHelp(words)) return print(`${await helpFor(words)}\n`);
  const [first = ""] = words;
  const verb = Object.hasOwn(verbs, first) ? first : undefined;
  if (!verb && !asksForDaemon(words)) throw unknownVerb(first);
  const command = await verbs[verb ?? "serve"]!.load();
  await runCommand(command, { rawArgs: verb ? words.slice(1) : words });
}

const asksForVersion = ([first]: string[]): boolean =>
  first === "--version" || first === "-V" || first === "version";

function asksForHelp(words: string[]): boolean {
  const separator = words.indexOf("--");
  const own = separator === -1 ? words : words.slice(0, separator);
  return own[0] === "help" || own.includes("--help") || own.includes("-h");
}

/** Flags without a verb mean `serve`: the launchers of claw_core start the daemon that way. */
function asksForDaemon(words: string[]): boolean {
  const [first = "serve"] = words;
  return (first === "serve" || first.startsWith("-")) && !asksForVersion(words) && !asksForHelp(words);
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
