// How long a command may take.

/** An agent at work inside a command needs longer than a command does. */
const cursorAgentMinimumS = 600;

/** `cursor agent ...`, `cursor-agent ...`, and `agent` followed by a prompt or one of its own flags. */
const cursorAgentCommand =
  /^\s*(?:cursor\s+agent(?:\s|$)|cursor-agent(?:\s|$)|agent\s+(?:["']|--(?:print|workspace)(?:[\s=]|$)))/;

/** Explicit wins and 0 means no limit; else the session's, raised for a Cursor agent. */
export function effectiveTimeoutS(command: string, explicitS: number | undefined, sessionS: number): number {
  if (explicitS !== undefined) return explicitS;
  if (sessionS === 0 || !cursorAgentCommand.test(command)) return sessionS;
  return Math.max(sessionS, cursorAgentMinimumS);
}
