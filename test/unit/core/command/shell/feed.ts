// A session's state and a command, as the analysis of command lines gets them.
import type { CommandFeed, ShellState } from "../../../../../src/core/command/shell/dialect.ts";

export const emptyState: ShellState = {
  workingDir: "/tmp",
  previousDir: undefined,
  script: "",
  lateScript: "",
  exportedNames: [],
  lastStatus: 0,
};

export const feedOf = (command: string, more: Partial<CommandFeed> = {}): CommandFeed => ({
  commandId: "c-0",
  command,
  state: emptyState,
  workingDir: "/tmp",
  place: "here",
  env: [],
  hasStdin: false,
  functions: [],
  mayImportFunctions: false,
  ...more,
});
