// Finds a command or a terminal by its own name or id, or by that of the session it runs in.

import type { StreamSummary } from "../protocol/exec.ts";
import type { DaemonClient } from "./client.ts";
import { CliError, errorExitCode } from "./errors.ts";
import {
  type Entry,
  type Handle,
  handleOf,
  listAll,
  notFound,
  pick,
  type TerminalEntry,
} from "./sessions.ts";
import { oneLine } from "./ui/format.ts";

export type Target =
  | { kind: "command"; command: StreamSummary }
  | { kind: "terminal"; terminal: TerminalEntry };

type Named = { entry: Entry } | { command: StreamSummary };

/** For a session it is the running command, else the last one. */
export async function findTarget(client: DaemonClient, word: string): Promise<Target> {
  const [listing, { streams }] = await Promise.all([listAll(client), client.call("exec.list", {})]);
  const things: Named[] = [
    ...listing.entries.map((entry) => ({ entry })),
    ...streams.map((command) => ({ command })),
  ];
  const found = pick(things, word, handleOfNamed);
  if (found && "command" in found) return { kind: "command", command: found.command };
  if (found?.entry.kind === "pty") return { kind: "terminal", terminal: found.entry };
  // Commands stay listed for some time after their session is destroyed.
  const isIn = (it: StreamSummary) =>
    found ? it.session_id === found.entry.session_id : [it.session_id, it.session_name].includes(word);
  const command = streams.findLast(isIn);
  if (command) return { kind: "command", command };
  if (!found) throw notFound(listing, word);
  throw new CliError(
    `nothing has run in ${word} yet, or it is forgotten`,
    errorExitCode("STREAM_NOT_FOUND"),
    `run a command in it with: trl run --session ${word} -- CMD`,
    "STREAM_NOT_FOUND",
  );
}

const handleOfNamed = (named: Named): Handle =>
  "entry" in named
    ? handleOf(named.entry)
    : {
        id: named.command.stream_id,
        name: null,
        isLive: named.command.state === "running",
        about: `command ${oneLine(named.command.command).slice(0, aboutChars)}`,
      };

const aboutChars = 40;

/** Requires exactly one word. */
export function oneName(words: string[], example: string): string {
  const [word, ...more] = words;
  if (word === undefined)
    throw new CliError("no name given", errorExitCode("INVALID_PARAMS"), `for example: ${example}`);
  if (more.length > 0)
    throw new CliError(
      "only one name can be given",
      errorExitCode("INVALID_PARAMS"),
      `for example: ${example}`,
    );
  return word;
}
