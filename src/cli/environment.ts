// What of the caller's environment a new session gets.

/** trl's own settings are not for the session. */
export function callersEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith("TRL_"));
  return Object.fromEntries(entries) as Record<string, string>;
}

/** What describes the terminal that the caller sits at, and not the one that is made. */
const ofTheTerminal =
  /^(?:TERM|COLORTERM|TERM_PROGRAM\w*|TERM_SESSION_ID|LINES|COLUMNS|TMUX|TMUX_PANE|STY|WINDOW|WINDOWID|VTE_VERSION)$/;

export function environmentForTerminal(): Record<string, string> {
  const entries = Object.entries(callersEnvironment()).filter(([name]) => !ofTheTerminal.test(name));
  return Object.fromEntries(entries);
}
