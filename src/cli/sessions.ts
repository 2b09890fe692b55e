// Sessions and terminals in one list, and lookup by id, name or prefix of an id.

import { errorCodes } from "../protocol/errors.ts";
import type { TerminalSummary } from "../protocol/pty.ts";
import type { Unavailable } from "../protocol/runtime.ts";
import type { SessionSummary } from "../protocol/session.ts";
import { nearest } from "../util/nearest.ts";
import type { DaemonClient } from "./client.ts";
import { CliError, usageExitCode } from "./errors.ts";

export type TerminalEntry = { kind: "pty" } & TerminalSummary;
export type SessionEntry = { kind: "exec" } & Omit<SessionSummary, "kind">;
export type Entry = SessionEntry | TerminalEntry;

export interface Listing {
  entries: Entry[];
  /** Runtimes that did not answer; `entries` lacks their sessions. */
  unavailable: Unavailable[];
}

/** Oldest first, of all runtimes or of one; includes recently ended terminals. */
export async function listAll(client: DaemonClient, runtime?: string): Promise<Listing> {
  const where = runtime === undefined ? {} : { runtime };
  const [all, terminals] = await Promise.all([
    client.call("session.list", where),
    client.call("pty.list", where),
  ]);
  const entries: Entry[] = [
    ...all.sessions.filter(({ kind }) => kind === "exec").map((it) => ({ ...it, kind: "exec" as const })),
    ...terminals.sessions.map((it) => ({ kind: "pty" as const, ...it })),
  ];
  entries.sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at));
  return { entries, unavailable: all.unavailable ?? [] };
}

export const isLive = ({ state }: Entry): boolean => state !== "exited";

/** The words by which the user can name a session, terminal or command. */
export interface Handle {
  id: string;
  name: string | null;
  isLive: boolean;
  /** Shown when a word matches several. */
  about: string;
}

export const handleOf = (entry: Entry): Handle => ({
  id: entry.session_id,
  name: entry.name,
  isLive: isLive(entry),
  about: `${entry.kind === "pty" ? "terminal" : "session"}${entry.name === null ? "" : ` ${entry.name}`}`,
});

/**
 * Precedence: exact id, newest live match by name, newest ended match by name, unique prefix of a generated id.
 * Throws if a prefix is ambiguous.
 */
export function pick<T>(things: T[], word: string, handle: (thing: T) => Handle): T | undefined {
  const known = things.map((thing) => ({ thing, ...handle(thing) }));
  const named = known.filter(({ name }) => name === word);
  const exact = known.find(({ id }) => id === word) ?? named.findLast((it) => it.isLive) ?? named.at(-1);
  if (exact) return exact.thing;
  const begun = known.filter(({ id }) => beginsWith(id, word));
  const living = begun.filter((it) => it.isLive);
  const candidates = living.length > 0 ? living : begun;
  if (candidates.length > 1) throw ambiguous(word, candidates);
  return candidates[0]?.thing;
}

/** One digit is too short: the word may select a session to kill. */
const digitsMin = 2;
const generatedId = /^([sx]-)([0-9a-f]{8,32})$/;

/** Prefixes apply to generated ids only; ids chosen by the user must match exactly. */
function beginsWith(id: string, word: string): boolean {
  const [, prefix, digits] = generatedId.exec(id) ?? [];
  if (prefix === undefined || digits === undefined) return false;
  const given = word.startsWith(prefix) ? word.slice(prefix.length) : word;
  return given.length >= digitsMin && digits.startsWith(given);
}

const candidatesMax = 8;

function ambiguous(word: string, candidates: Handle[]): CliError {
  const lines = candidates.slice(0, candidatesMax).map(({ id, about }) => `${id} (${about})`);
  if (candidates.length > candidatesMax) lines.push(`and ${candidates.length - candidatesMax} more`);
  return new CliError(`${word} may be one of ${candidates.length}`, usageExitCode, lines.join("\n     "));
}

export function findEntry(listing: Listing, word: string): Entry {
  const found = pick(listing.entries, word, handleOf);
  if (!found) throw notFound(listing, word);
  return found;
}

/** Like findEntry, but rejects sessions for commands. */
export async function findTerminal(client: DaemonClient, word: string): Promise<TerminalEntry> {
  const found = findEntry(await listAll(client), word);
  if (found.kind === "pty") return found;
  const hint = `run a command in it with: trl run --session ${word} -- CMD`;
  throw new CliError(`${word} is a session for commands, not a terminal`, usageExitCode, hint);
}

export const reasonOf = ({ runtime, reason }: Unavailable): string =>
  `the runtime ${runtime} cannot be reached: ${reason}`;

export function notFound({ entries, unavailable }: Listing, word: string): CliError {
  const known = entries.filter(isLive).flatMap(({ name, session_id }) => [name ?? session_id, session_id]);
  const meant = nearest(word, known);
  const hint = meant ? `is it meant to be ${meant}?` : "trl ls lists what there is";
  const hints = [...unavailable.map(reasonOf), hint].join("\n     ");
  return new CliError(`there is no session ${word}`, errorCodes.SESSION_NOT_FOUND.exit, hints);
}
