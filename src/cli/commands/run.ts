// trl run: runs a command in a session.
import { type ArgsDef, defineCommand } from "citty";
import { checkFlags, refuseWords } from "../check-flags.ts";
import { socketArgs, socketPathFrom, tryConnect } from "../connection.ts";
import { CliError, usageExitCode } from "../errors.ts";
import { Interrupts } from "../interrupts.ts";
import { secondsFrom } from "../numbers.ts";
import { runInSession } from "../run-in-session.ts";
import { runtimeArgs, runtimeChoiceFrom } from "../runtime-args.ts";
import { quoteWords } from "../shell-words.ts";
import { startTemporaryDaemon } from "../temporary-daemon.ts";

const args = {
  ...socketArgs,
  session: {
    type: "string",
    valueHint: "NAME",
    description: "Session to run in, by name or id; made if there is none of that name (a new one)",
  },
  cwd: {
    type: "string",
    valueHint: "DIR",
    description: "Directory to run in (the session's, else this one)",
  },
  ...runtimeArgs,
  timeout: {
    type: "string",
    valueHint: "S",
    description: "Seconds until the command is stopped; 0 = never (0)",
  },
  json: {
    type: "boolean",
    description: "Print the result as JSON when it has ended: output, exit code, duration and so on",
  },
  stdin: { type: "boolean", alias: "i", description: "Pass standard input on to the command" },
} as const satisfies ArgsDef;

export default defineCommand({
  meta: { name: "run", description: "Run a command and pass on its output, input and exit code" },
  args,
  async run({ args: given, rawArgs }) {
    checkFlags(rawArgs, args);
    const wanted = {
      command: commandFrom(rawArgs, given._),
      session: given.session,
      cwd: given.cwd,
      runtime: runtimeChoiceFrom(given),
      timeoutS: secondsFrom("--timeout", given.timeout ?? "0"),
      // Opt-in: in a shell loop or under an agent, stdin belongs to the caller.
      passesStdin: given.stdin === true,
      isJson: given.json === true,
    };
    using interrupts = new Interrupts();
    using existing = await tryConnect(socketPathFrom(given));
    await using own = existing ? undefined : await startTemporaryDaemon();
    process.exitCode = await runInSession(existing ?? own!.client, wanted, interrupts);
  },
});

/** One word is a line for the shell; several are a program and its arguments, which are quoted. */
function commandFrom(rawArgs: string[], positional: string[]): string {
  const separator = rawArgs.indexOf("--");
  const words = separator === -1 ? positional : rawArgs.slice(separator + 1);
  if (separator !== -1) refuseWords(positional.slice(0, positional.length - words.length));
  if (words.length === 0)
    throw new CliError("no command given", usageExitCode, "for example: trl run -- ls -l");
  return words.length === 1 ? words[0]! : quoteWords(words);
}
