// Selects the variables of the caller's environment that a new session inherits.

/** Without TRL_*, which configure trl itself. */
export function callersEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith("TRL_"));
  return Object.fromEntries(entries) as Record<string, string>;
}

/** Variables that describe the caller's terminal and would be wrong in a new one. */
const callersTerminal =
  /^(?:TERM|COLORTERM|TERM_PROGRAM\w*|TERM_SESSION_ID|LINES|COLUMNS|TMUX|TMUX_PANE|STY|WINDOW|WINDOWID|VTE_VERSION)$/;

export function environmentForTerminal(): Record<string, string> {
  const entries = Object.entries(callersEnvironment()).filter(([name]) => !callersTerminal.test(name));
  return Object.fromEntries(entries);
}
