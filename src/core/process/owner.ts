// Whose a process is, and how that shows in its environment.
import { processTable } from "./process-table.ts";

/** `commandId` is absent for a shell that still waits for its command. */
export interface Owner {
  sessionId: string;
  commandId?: string;
}

/** Set in the environment of everything that a session starts. */
export const tagNames = {
  session: "TRL_SESSION_ID",
  command: "TRL_COMMAND_ID",
  daemon: "TRL_DAEMON",
} as const;

export type Selection = { sessionId: string } | { commandId: string } | "everything";

export function isSelected(owner: Owner | undefined, selection: Selection): boolean {
  if (selection === "everything") return true;
  if ("sessionId" in selection) return owner?.sessionId === selection.sessionId;
  return owner?.commandId === selection.commandId;
}

export function ownerFromTags(pid: number): Owner | undefined {
  const tags = processTable.environmentOf(pid, [tagNames.session, tagNames.command]);
  const sessionId = tags[tagNames.session];
  const commandId = tags[tagNames.command];
  if (!sessionId) return undefined;
  return commandId ? { sessionId, commandId } : { sessionId };
}
