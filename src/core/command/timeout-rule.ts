// Effective time limit of a command.

/** A command that runs a coding agent takes longer than others. */
const cursorAgentMinimumS = 600;

/** `cursor agent ...`, `cursor-agent ...`, and `agent` followed by a prompt or one of its own flags. */
const cursorAgentCommand =
  /^\s*(?:cursor\s+agent(?:\s|$)|cursor-agent(?:\s|$)|agent\s+(?:["']|--(?:print|workspace)(?:[\s=]|$)))/;

/** The limit of the request (0 = none), else the limit of the session, raised for a Cursor agent. */
export function effectiveTimeoutS(command: string, explicitS: number | undefined, sessionS: number): number {
  if (explicitS !== undefined) return explicitS;
  if (sessionS === 0 || !cursorAgentCommand.test(command)) return sessionS;
  return Math.max(sessionS, cursorAgentMinimumS);
}
