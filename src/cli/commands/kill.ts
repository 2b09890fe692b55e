// trl kill: ends sessions and terminals.
import { type ArgsDef, defineCommand } from "citty";
import { errorCodes } from "../../protocol/errors.ts";
import { checkFlags } from "../check-flags.ts";
import type { DaemonClient } from "../client.ts";
import { connect, socketArgs, socketPathFrom } from "../connection.ts";
import { CliError, reportError, usageExitCode } from "../errors.ts";
import { type Entry, findEntry, isLive, type Listing, listAll } from "../sessions.ts";
import { jsonArgs, printJson } from "../ui/print.ts";
import { withProgress } from "../ui/progress.ts";

const args = { ...socketArgs, ...jsonArgs } as const satisfies ArgsDef;

export default defineCommand({
  meta: { name: "kill", description: "End terminals or sessions, with everything that runs in them" },
  args,
  async run({ args: given, rawArgs }) {
    checkFlags(rawArgs, args);
    const names = given._;
    if (names.length === 0) throw new CliError("no name given", usageExitCode, "for example: trl kill work");
    using client = await connect(socketPathFrom(given));
    const listing = await listAll(client);
    const ends = Promise.allSettled(names.map((name) => end(client, listing, name)));
    const outcomes = await withProgress(`waiting for the end of ${names.join(", ")}`, ends);
    // Like kill(1): a name that is not found does not stop the others from being killed.
    const codes = outcomes.map((it) => (it.status === "rejected" ? reportError(it.reason) : 0));
    const ended = outcomes.flatMap((it) => (it.status === "fulfilled" ? [it.value] : []));
    if (given.json) printJson({ ended });
    process.exitCode = codes.find((code) => code !== 0) ?? 0;
  },
});

type Ended = Pick<Entry, "session_id" | "name" | "kind">;

async function end(client: DaemonClient, listing: Listing, name: string): Promise<Ended> {
  const found = findEntry(listing, name);
  if (!isLive(found)) throw new CliError(`${name} has already ended`, errorCodes.SESSION_NOT_FOUND.exit);
  const { session_id, kind } = found;
  const { left } = await client.call("session.destroy", { session_id, force: true });
  if (left) {
    const message = `${name} has ended, but these processes could not be killed: ${left.join(", ")}`;
    throw new CliError(message, 1, "they are another user's, or wait for a device; root can look at them");
  }
  return { session_id, name: found.name, kind };
}
