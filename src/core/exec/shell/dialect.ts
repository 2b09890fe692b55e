// How a kind of shell is started ahead, given its state and its command, and read back. A shell that waits
// reads its state from descriptor 3 and its command from descriptor 4; 5 is the command's input. All three
// are closed before the user's first word runs. At its end it writes its state to a file in its private
// directory, through a descriptor that is open for that moment only.
import type { ByteString } from "./byte-string.ts";

/** What a session carries from one command to the next. */
export interface ShellState {
  workingDir: ByteString;
  previousDir: ByteString | undefined;
  /** Makes a new shell like the one that reported it. Only the dialect that wrote it reads it. */
  script: ByteString;
  /** Options that show, stop or change the lines after them, as the last lines before the command. */
  lateScript: ByteString;
  exportedNames: string[];
  lastStatus: number;
}

export interface Launch {
  argv: string[];
  env: Record<string, string>;
  workingDir: string;
}

export interface CommandFeed {
  commandId: string;
  command: ByteString;
  state: ShellState;
  /** Where it runs, absolute; `isGone` when that directory exists no more. */
  workingDir: ByteString;
  isGone: boolean;
  /** For this command alone; `null` unsets. Names are valid identifiers. */
  env: [name: ByteString, value: ByteString | null][];
  hasStdin: boolean;
}

export interface CommandScript {
  /** What goes to descriptor 4. */
  script: ByteString;
  /** Text of the launch's `commandFile`, where it has one. */
  file?: ByteString;
}

export type ReportedState = Omit<ShellState, "lastStatus">;

export interface ShellDialect {
  /** The file in the shell's directory that holds the command; empty where the command needs none. */
  commandFile: string;
  launch(shell: string, dir: string): Launch;
  /** The state of a session in which nothing has run yet. */
  initialState(env: [name: ByteString, value: ByteString][]): Pick<ShellState, "script" | "lateScript">;
  /** What goes to descriptor 3. */
  stateScript(state: ShellState, dir: string): ByteString;
  commandScript(feed: CommandFeed, dir: string): CommandScript;
  /** Undefined where the report is not whole: then the shell died before it could write it. */
  readReport(report: ByteString, feed: CommandFeed, dir: string): ReportedState | undefined;
}

export const reportFile = "state";
/** Old values of the variables that a command was given for itself alone. */
export const savedEnvFile = "env";
export const goneDir = "gone";
