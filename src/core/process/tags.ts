// By what a process says whose it is: variables that everything has that a session starts.
import { processTable } from "../../platform/process-table.ts";

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

export function ownerFromTags(pid: number): Owner | undefined {
  const { session, command } = tagNames;
  const { [session]: sessionId, [command]: commandId } = processTable.environmentOf(pid, [session, command]);
  if (!sessionId) return undefined;
  return commandId ? { sessionId, commandId } : { sessionId };
}
