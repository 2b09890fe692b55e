// trl attach: attaches the user's terminal to a terminal of the daemon.
import { type ArgsDef, defineCommand } from "citty";
import { checkFlags } from "../check-flags.ts";
import type { DaemonClient } from "../client.ts";
import { connect, socketArgs, socketPathFrom } from "../connection.ts";
import { CliError, usageExitCode } from "../errors.ts";
import { jsonErrorArgs } from "../json-errors.ts";
import { findTerminal, type TerminalEntry } from "../sessions.ts";
import { attach, conclude } from "../ui/terminal/attachment.ts";
import { detachKeyArg, detachKeyFrom } from "../ui/terminal/detach-key.ts";
import { isOnTerminal } from "../ui/terminal/user-terminal.ts";

const args = { ...socketArgs, "detach-key": detachKeyArg, ...jsonErrorArgs } as const satisfies ArgsDef;

export default defineCommand({
  meta: { name: "attach", description: "Attach to a terminal; ctrl-\\ detaches and lets it run" },
  args,
  async run({ args: given, rawArgs }) {
    checkFlags(rawArgs, args);
    const key = detachKeyFrom(given["detach-key"]);
    const [label, ...more] = given._;
    if (label === undefined || more.length > 0)
      throw new CliError("one name is needed", usageExitCode, "trl ls lists what there is");
    refuseWithoutTerminal();
    using client = await connect(socketPathFrom(given));
    const terminal = await findOther(client, label);
    process.exitCode =
      terminal.state === "exited"
        ? await showEnded(client, terminal, label)
        : await attach(client, { id: terminal.session_id, label }, key);
  },
});

function refuseWithoutTerminal(): void {
  if (isOnTerminal()) return;
  const hint = "to run a command: trl run -- CMD; to type into a terminal from a program: trl send NAME TEXT";
  throw new CliError("standard input and output are no terminal", usageExitCode, hint);
}

async function findOther(client: DaemonClient, label: string): Promise<TerminalEntry> {
  const found = await findTerminal(client, label);
  if (await isInside(client, found))
    throw new CliError(`this is already ${label}: it cannot show itself in itself`, usageExitCode);
  return found;
}

/** True inside that terminal: the daemon sets the terminal's id and its own pid in the environment. */
async function isInside(client: DaemonClient, { session_id }: TerminalEntry): Promise<boolean> {
  const { TRL_SESSION_ID, TRL_DAEMON = "" } = process.env;
  if (TRL_SESSION_ID !== session_id) return false;
  const { pid } = await client.call("system.stats", {});
  return TRL_DAEMON.startsWith(`${pid}:`);
}

/** Prints the last screen as text; the user's terminal does not enter raw mode. */
async function showEnded(client: DaemonClient, terminal: TerminalEntry, label: string): Promise<number> {
  const { lines = [] } = await client.call("pty.snapshot", { session_id: terminal.session_id });
  const text = lines.join("\n").trimEnd();
  if (text !== "") process.stdout.write(`${text}\n`);
  return conclude({ kind: "exited", exitCode: terminal.exit_code ?? 0, signal: terminal.signal }, label);
}
