// A terminal as it is handed to the program that comes.
import type { TerminalState } from "../../upgrade/schema/terminals.ts";
import type { Terminal } from "./terminal.ts";

type Identity = Omit<TerminalState, "ring" | "screen" | "final" | "meter" | "live" | "elapsedMs">;

/** What can be seen of it from outside. */
export function identityOf(terminal: Terminal): Identity {
  const { spec, pid, size, createdAt, lastActivity, exit, endedAt, keeping } = terminal;
  const { id, name, shell, command, driver, workingDir, idleTimeoutS, maxAgeS, pty } = spec;
  const { reason, receipt } = keeping;
  return {
    ...{ id, name, shell, command, workingDir, idleTimeoutS, maxAgeS, pid, size },
    driver: driver.name,
    env: pty.env,
    createdAt: createdAt.getTime(),
    createdSteadyMs: createdAt.steadyMs,
    lastActivity: lastActivity.getTime(),
    lastActivitySteadyMs: lastActivity.steadyMs,
    ended: exit && {
      ...{ exit, reason: reason!, receipt: receipt! },
      at: endedAt!.getTime(),
      atSteadyMs: endedAt!.steadyMs,
    },
  };
}
