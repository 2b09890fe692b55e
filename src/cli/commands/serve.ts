import { fstatSync, realpathSync, writeSync } from "node:fs";
import { relative } from "node:path";
import { type ArgsDef, defineCommand } from "citty";
import { boot } from "../../daemon/boot.ts";
import { environmentName, type FlagTable, flags } from "../../daemon/flags.ts";
import { OptionError } from "../../daemon/option-error.ts";
import { type GivenFlags, readOptions } from "../../daemon/options.ts";
import { endingSignal } from "../../daemon/signals.ts";
import { unblockSignals } from "../../platform/linux/held-signals.ts";
import { readBootstrapEnvironment } from "../../upgrade/bootstrap-environment.ts";
import { answerTrial } from "../../upgrade/check-executable.ts";
import { beginTakeover, type Takeover } from "../../upgrade/restore/takeover.ts";
import { rollBack } from "../../upgrade/rollback.ts";
import { defaultSocketPath } from "../../util/socket-path.ts";
import { checkFlags, refuseWords } from "../check-flags.ts";
import { CliError, usageExitCode } from "../errors.ts";
import { ownProgram } from "../own-program.ts";
import { quoteWord, quoteWords } from "../shell-words.ts";

const args: ArgsDef = Object.fromEntries(
  Object.entries(flags as FlagTable).map(([name, flag]) => [
    name,
    {
      type: flag.kind === "boolean" ? "boolean" : "string",
      description: flag.default ? `${flag.help} (${flag.default})` : flag.help,
      ...(flag.alias ? { alias: flag.alias } : {}),
      ...hintOf(flag),
    } satisfies ArgsDef[string],
  ]),
);

/** Where there are only a few values, they are the hint. */
function hintOf({ choices, hint }: FlagTable[keyof FlagTable]): { valueHint?: string } {
  const valueHint = choices?.join("|") ?? hint;
  return valueHint ? { valueHint } : {};
}

const seeFlags = "trl serve --help lists the flags";

/** Set by `trl run` for a daemon of its own: it ends when its standard input does. */
const lifelineVariable = environmentName("lifeline");

export default defineCommand({
  meta: { name: "serve", description: "Run the daemon in the foreground (also: trl with flags only)" },
  args,
  async run({ args: given, rawArgs }) {
    const environment = readBootstrapEnvironment(process.env);
    let takeover: Takeover | undefined;
    try {
      checkFlags(rawArgs, args);
      refuseWords(given._);
      let hungUp = () => false;
      const ending = [endingSignal(() => hungUp())];
      if (process.env[lifelineVariable] === "stdin") ending.push(endOfStdin());
      const runtime = allOf("runtime", rawArgs);
      const flags = {
        ...(given as GivenFlags),
        ...(runtime.length > 0 ? { runtime: runtime.join(",") } : {}),
      };
      const options = wellGiven(() => readOptions(flags, process.env));
      if (environment?.kind === "trial") return await answerTrial();
      takeover = environment && beginTakeover(environment);
      const daemon = await boot(options, takeover);
      hungUp = daemon.hungUp;
      if (takeover) unblockSignals();
      else if (options.hasSocket && !options.isForCaller && options.logFormat === "pretty")
        printNextSteps(options.socketPath);
      await daemon.stop(await Promise.race([...ending, daemon.done]));
    } catch (error) {
      if (environment && environment.kind !== "trial") rollBack(environment, takeover, error);
      if (error instanceof OptionError)
        throw new CliError(error.message, error.isWrong ? usageExitCode : 1, seeFlags);
      throw error;
    }
  },
});

/** A wrong value is a wrong command line, as an unknown flag is; what the machine refuses later is not. */
function wellGiven<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof OptionError) throw new CliError(error.message, usageExitCode, seeFlags);
    throw error;
  }
}

/** At a terminal alone: a log in a file or a pipe has no such lines. */
function printNextSteps(socketPath: string): void {
  try {
    // A terminal, or /dev/null, where it does no harm.
    if (fstatSync(2).isCharacterDevice()) writeSync(2, nextSteps(socketPath));
  } catch {
    // closed, or without room
  }
}

function nextSteps(socketPath: string): string {
  const where = socketPath === defaultSocketPath ? [] : ["--socket-path", socketPath];
  const words = quoteWords(["run", ...where, "--", "echo", "hello"]);
  const [program, entry] = ownProgram();
  const installed = Bun.which("trl");
  const isInstalled = installed !== null && realpathSync(installed) === realpathSync(program!);
  const fromSource = entry && `npx bun ${quoteWord(relative(process.cwd(), entry))} ${words}`;
  const command = fromSource
    ? `${fromSource} (once it is installed: trl ${words})`
    : `${isInstalled ? "trl" : quoteWord(program!)} ${words}`;
  return `  It listens on ${socketPath}; Ctrl-C ends it.\n  Next, in another terminal: ${command}\n`;
}

/** citty keeps the last of several. */
function allOf(name: string, words: string[]): string[] {
  return words.flatMap((word, at) => {
    if (word.startsWith(`--${name}=`)) return [word.slice(name.length + 3)];
    return word === `--${name}` ? (words[at + 1] ?? []) : [];
  });
}

async function endOfStdin(): Promise<string> {
  for await (const _ of Bun.stdin.stream()) {
    // nothing is said here; only the end counts
  }
  return "end of standard input";
}
