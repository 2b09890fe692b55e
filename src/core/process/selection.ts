// Of whom something is asked or told: one session, one command, or everybody.
import type { Owner } from "./tags.ts";

export type Selection = { sessionId: string } | { commandId: string } | "everything";

/** The processes of a session, where something knows them for certain: its control group. */
export type OwnedBy = () => number[];

export function isSelected(owner: Owner | undefined, selection: Selection): boolean {
  if (selection === "everything") return true;
  if ("sessionId" in selection) return owner?.sessionId === selection.sessionId;
  return owner?.commandId === selection.commandId;
}
