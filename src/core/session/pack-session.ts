// A session as it is handed to the program that comes.
import type { SessionState } from "../../upgrade/schema/commands.ts";
import type { Packing } from "../../upgrade/schema/fields.ts";
import { detailsOf } from "../command/store.ts";
import type { Session } from "./session.ts";

/** At rest; `enclosure` is its number among those that are handed over. */
export function packSession(
  session: Session,
  sessionIsolation: number | undefined,
  packing: Packing,
): SessionState {
  const { id, name, shell, timeoutS, idleTimeoutS, maxAgeS, runner, context } = session.spec;
  const command = session.runningCommand;
  return {
    ...{ id, name, shell, timeoutS, idleTimeoutS, maxAgeS, enclosure: sessionIsolation },
    createdAt: session.createdAt.getTime(),
    createdSteadyMs: session.createdAt.steadyMs,
    lastActivity: session.lastActivity.getTime(),
    lastActivitySteadyMs: session.lastActivity.steadyMs,
    commandCount: session.commandCount,
    totals: session.totals.sum(0),
    executor: runner.pack(),
    running: command && { ...detailsOf(context.commands.get(command.id)), command: command.pack(packing) },
    lingeringFds: session.lingering.pack(packing),
  };
}
