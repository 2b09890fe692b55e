// trl cancel: cancels running commands or sends them a signal.
import { type ArgsDef, defineCommand } from "citty";
import { checkFlags } from "../check-flags.ts";
import type { DaemonClient } from "../client.ts";
import { connect, socketArgs, socketPathFrom } from "../connection.ts";
import { CliError, reportError, usageExitCode } from "../errors.ts";
import { findTarget } from "../targets.ts";
import { jsonArgs, printJson } from "../ui/print.ts";

const args = {
  ...socketArgs,
  signal: {
    type: "string",
    alias: "s",
    valueHint: "SIGNAL",
    description: "Send only this, such as SIGINT (SIGTERM, and SIGKILL for what is left after 2 s)",
  },
  ...jsonArgs,
} as const satisfies ArgsDef;

/** No command was running. */
const idleExitCode = 1;

export default defineCommand({
  meta: { name: "cancel", description: "Stop a running command, or send it a signal; its session lives on" },
  args,
  async run({ args: given, rawArgs }) {
    checkFlags(rawArgs, args);
    const words = given._;
    if (words.length === 0)
      throw new CliError(
        "no name given",
        usageExitCode,
        "for example: trl cancel build; trl ps lists what runs",
      );
    const signal = given.signal === undefined ? {} : { signal: given.signal };
    using client = await connect(socketPathFrom(given));
    const outcomes = await Promise.allSettled(words.map((word) => cancel(client, word, signal)));
    const codes = outcomes.map((it) => (it.status === "rejected" ? reportError(it.reason) : 0));
    const cancelled = outcomes.flatMap((it) => (it.status === "fulfilled" ? [it.value] : []));
    if (given.json) printJson({ commands: cancelled });
    process.exitCode = codes.find((code) => code !== 0) ?? 0;
  },
});

async function cancel(client: DaemonClient, word: string, signal: { signal?: string }) {
  const target = await findTarget(client, word);
  if (target.kind === "terminal") {
    const hint = `press ^C in it with: trl send ${word} --key C-c; end it with: trl kill ${word}`;
    throw new CliError(`${word} is a terminal, not a command`, usageExitCode, hint);
  }
  const { stream_id } = target.command;
  const result = await client.call("exec.cancel", { stream_id, ...signal });
  if (!result.cancelled)
    throw new CliError(`nothing is running in ${word}`, idleExitCode, "trl ps lists what runs");
  return { stream_id, ...result };
}
