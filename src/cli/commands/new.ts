// trl new: creates a terminal and attaches to it.
import { type ArgsDef, defineCommand } from "citty";
import { TerminalId, type TerminalSummary } from "../../protocol/pty.ts";
import { connectOrStart } from "../background-daemon.ts";
import { checkFlags } from "../check-flags.ts";
import type { DaemonClient } from "../client.ts";
import { socketArgs } from "../connection.ts";
import { environmentForTerminal } from "../environment.ts";
import { CliError, usageExitCode } from "../errors.ts";
import { type RuntimeChoice, runtimeArgs, runtimeChoiceFrom } from "../runtime-args.ts";
import { isLive, listAll } from "../sessions.ts";
import { jsonArgs, print, printJson } from "../ui/print.ts";
import { attach } from "../ui/terminal/attachment.ts";
import { detachKeyArg, detachKeyFrom } from "../ui/terminal/detach-key.ts";
import { isOnTerminal, userSize } from "../ui/terminal/user-terminal.ts";

const args = {
  ...socketArgs,
  detach: { type: "boolean", alias: "d", description: "Do not attach to it; print its id" },
  "detach-key": detachKeyArg,
  ...jsonArgs,
  ...runtimeArgs,
} as const satisfies ArgsDef;

interface Wanted {
  runtime: RuntimeChoice;
  name: string | undefined;
  command: string[];
}

export default defineCommand({
  meta: { name: "new", description: "Make a terminal that lives on when you detach, and attach to it" },
  args,
  async run({ args: given, rawArgs }) {
    checkFlags(rawArgs, args);
    const key = detachKeyFrom(given["detach-key"]);
    const wanted = { ...wantedFrom(rawArgs, given._), runtime: runtimeChoiceFrom(given) };
    using client = await connectOrStart(given);
    const created = await create(client, wanted);
    const { session_id: id } = created;
    if (!given.detach && isOnTerminal())
      process.exitCode = await attach(client, { id, label: wanted.name ?? id }, key);
    else if (given.json) printJson(created);
    else print(`${id}\n`);
  },
});

function wantedFrom(rawArgs: string[], positional: string[]): Omit<Wanted, "runtime"> {
  const separator = rawArgs.indexOf("--");
  const command = separator === -1 ? [] : rawArgs.slice(separator + 1);
  const [name, ...more] = positional.slice(0, positional.length - command.length);
  if (more.length > 0) {
    const hint = `a command goes behind --: trl new ${name} -- ${more.join(" ")}`;
    throw new CliError("only one name can be given", usageExitCode, hint);
  }
  if (name !== undefined) checkName(name);
  return { name, command };
}

/** Checks the protocol's pattern, because the name is also the terminal's id. */
function checkName(name: string): void {
  const checked = TerminalId["~standard"].validate(name);
  if (!("issues" in checked) || !checked.issues) return;
  const hint = `it may be ${checked.issues[0]?.message}; the first is a-z, A-Z or a digit`;
  throw new CliError(`"${name}" cannot be a terminal's name`, usageExitCode, hint);
}

async function create(client: DaemonClient, wanted: Wanted): Promise<TerminalSummary> {
  const { name, command, runtime } = wanted;
  const [program, ...programArgs] = command;
  const ours = runtime.isRemote
    ? {}
    : { working_dir: process.cwd(), env: environmentForTerminal(), inherit_env: "none" as const };
  const shell = runtime.isRemote ? undefined : process.env["SHELL"];
  try {
    return await client.call("pty.create", {
      ...(name === undefined ? {} : { session_id: name, name }),
      ...(program === undefined ? {} : { command: program, args: programArgs }),
      ...(program === undefined && shell ? { shell } : {}),
      ...userSize(),
      ...ours,
      ...runtime.params,
    });
  } catch (error) {
    const { entries } = await listAll(client);
    const inUse = entries.some((it) => it.session_id === name && isLive(it));
    if (!inUse) throw error;
    throw new CliError(
      `there is a session ${name} already`,
      usageExitCode,
      `come back to it with: trl attach ${name}`,
    );
  }
}
