// The states of a session. Nothing but `advance` moves between them.
import type { SessionState } from "../../protocol/session.ts";
import type { Command, CommandOutcome } from "../command/command.ts";

export type Phase =
  | { state: "creating" }
  | { state: "idle" }
  | { state: "running"; command: Command; ended: Promise<CommandOutcome> }
  | { state: "terminated" };

/** The same for all that rest. */
export const idle: Phase = { state: "idle" };

const allowed: Record<SessionState, readonly SessionState[]> = {
  creating: ["idle", "running", "terminated"],
  idle: ["running", "terminated"],
  running: ["idle", "terminated"],
  terminated: [],
};

export function advance(from: Phase, to: Phase): Phase {
  if (!allowed[from.state].includes(to.state)) {
    throw new Error(`a session cannot go from ${from.state} to ${to.state}`);
  }
  return to;
}
