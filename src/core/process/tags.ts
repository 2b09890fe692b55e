// Owners of processes: how a process is tagged with its session and command, and selections of processes by owner.
import { processTable } from "../../platform/process-table.ts";

/** `commandId` is absent for a warm shell that waits for its command. */
export interface Owner {
  sessionId: string;
  commandId?: string;
}

/** Variables in the environment of everything that a session starts. */
export const tagNames = {
  session: "TRL_SESSION_ID",
  command: "TRL_COMMAND_ID",
  daemon: "TRL_DAEMON",
} as const;

export function ownerFromTags(pid: number): Owner | undefined {
  const { session, command } = tagNames;
  const { [session]: sessionId, [command]: commandId } = processTable.environmentOf(pid, [session, command]);
  if (!sessionId) return undefined;
  return commandId ? { sessionId, commandId } : { sessionId };
}

/** The processes of one session, of one command, or all that the daemon owns. */
export type Selection = { sessionId: string } | { commandId: string } | "everything";

export function isSelected(owner: Owner | undefined, selection: Selection): boolean {
  if (selection === "everything") return true;
  if ("sessionId" in selection) return owner?.sessionId === selection.sessionId;
  return owner?.commandId === selection.commandId;
}
