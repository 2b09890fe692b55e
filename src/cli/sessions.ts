// Sessions and terminals as people see them: one list, and names as good as ids.
import type { TrlClient } from "../client/client.ts";
import { errorCodes } from "../protocol/errors.ts";
import type { TerminalSummary } from "../protocol/pty.ts";
import type { SessionSummary } from "../protocol/session.ts";
import { nearest } from "../util/nearest.ts";
import { CliError } from "./errors.ts";

export type TerminalEntry = { kind: "pty" } & TerminalSummary;
export type Entry = ({ kind: "exec" } & Omit<SessionSummary, "kind">) | TerminalEntry;

/** Oldest first; terminals that have ended lately are among them. */
export async function listAll(client: TrlClient): Promise<Entry[]> {
  const [all, terminals] = await Promise.all([client.call("session.list", {}), client.call("pty.list", {})]);
  const entries: Entry[] = [
    ...all.sessions.filter(({ kind }) => kind === "exec").map((it) => ({ ...it, kind: "exec" as const })),
    ...terminals.sessions.map((it) => ({ kind: "pty" as const, ...it })),
  ];
  return entries.sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at));
}

export const isLive = ({ state }: Entry): boolean => state !== "exited";

/** An id wins; of those with the name, the newest that lives, else the newest. */
export function findEntry(entries: Entry[], nameOrId: string): Entry | undefined {
  const named = entries.filter(({ name }) => name === nameOrId);
  return entries.find(({ session_id }) => session_id === nameOrId) ?? named.findLast(isLive) ?? named.at(-1);
}

export function notFound(entries: Entry[], nameOrId: string): CliError {
  const known = entries.filter(isLive).flatMap(({ name, session_id }) => [name ?? session_id, session_id]);
  const meant = nearest(nameOrId, known);
  const hint = meant ? `is it meant to be ${meant}?` : "trl ls lists what there is";
  return new CliError(`there is no session ${nameOrId}`, errorCodes.SESSION_NOT_FOUND.exit, hint);
}
