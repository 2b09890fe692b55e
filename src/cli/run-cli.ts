// Does what the command line asks for: verbs, help and version.
import { runCommand } from "citty";
import { nearest } from "../util/nearest.ts";
import { version } from "../util/version.ts";
import { generalHelp, helpForVerb, verbs } from "./commands.ts";
import { CliError, printAtOnce, reportError, usageExitCode } from "./errors.ts";
import { asksForDaemon, asksForHelp, asksForVersion } from "./quick-args.ts";
import { print } from "./ui/print.ts";

/** Never throws: what went wrong is told, and is the exit code. */
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
