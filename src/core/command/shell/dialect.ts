// The interface of a shell dialect: how a kind of shell is started ahead, gets its state and its command, and reports
// back. A warm shell reads its state from descriptor 3 and the command's prologue from 4; 5 is the command's stdin. All
// three are closed before the user's first word runs, except for an in-place run, which cannot use them. At its end the
// shell writes its state to a file in its private directory; the descriptor is open only while it writes.
import type { ByteString } from "../../process/byte-string.ts";

/** What a session carries from one command to the next. */
export interface ShellState {
  workingDir: ByteString;
  previousDir: ByteString | undefined;
  /** Restores the reported state in a new shell. Only the dialect that wrote it reads it. */
  script: ByteString;
  /** Options that print, stop or change the lines after them: the last lines before the command. */
  lateScript: ByteString;
  /** Aliases, if they would change trl's own lines: defined after all of them. */
  aliasScript?: ByteString;
  exportedNames: readonly string[];
  lastStatus: number;
}

export interface Launch {
  argv: string[];
  /** Added to the session's own environment, which every shell starts with. */
  env: Record<string, string>;
}

/** Launch environment and state of a session's first shell. */
export interface InitialState extends Pick<ShellState, "script" | "lateScript"> {
  launchEnv: Record<string, string>;
}

export interface CommandFeed {
  commandId: string;
  command: ByteString;
  state: ShellState;
  /** The directory of the command, absolute. */
  workingDir: ByteString;
  /** The warm shell is in `workingDir` ("here"), must `cd` to it, or cannot, because it was removed ("gone"). */
  place: "here" | "elsewhere" | "gone";
  /** The nearest existing parent of a directory that was removed. */
  existingParent?: ByteString;
  /** Variables of this command only; `null` unsets. Names are valid identifiers. */
  env: [name: ByteString, value: ByteString | null][];
  /** Functions of this command only. */
  functions: [name: string, body: ByteString][];
  hasStdin: boolean;
  /** The command got names that only the environment can carry, from which bash may import functions. */
  mayImportFunctions: boolean;
}

/** The part of a feed that reading the report needs. */
export type Surroundings = Pick<CommandFeed, "state" | "workingDir" | "place" | "existingParent" | "env">;

export interface CommandScript {
  prologue: ByteString;
  /** Text of `commandFile`, if the dialect has one. */
  file?: ByteString;
}

/** Changes of a state to the launch variables, which every shell of the session starts with. */
export interface ExportChanges {
  unset: string[];
  set: Record<string, string>;
}

/** What the shell reports after a command: everything, the directory and these variables, or nothing. */
export type ReportPlan =
  | { report: "whole" }
  | { report: "part"; variables: readonly string[] }
  | { report: "none"; exec?: ExecScript };

/** Makes the shell exec the program that the command consists of. */
export interface ExecScript {
  /** The last lines of the prologue. */
  prologueEnd: ByteString;
  file: ByteString;
}

/** Variants of the startup file; without options it is for one command that reports everything. */
export interface ShellBoot {
  /** For one command that needs no whole report: a shorter file, which the shell reads sooner. */
  isLean?: boolean;
  /** The shell can run commands in place before the last one (`inPlaceWords`). */
  runsInPlace?: boolean;
}

export type ReportedState = Omit<ShellState, "lastStatus">;

export interface ShellDialect {
  /** The file in the shell's directory that contains the command; empty if the dialect needs none. */
  commandFile: string;
  /** The file in the shell's directory that contains the boot script. */
  bootFile: string;
  /** The command that sources a file, even if the session has a function named `.`. */
  source: string;
  /** The name of the function that this environment variable contains. Dialects without it import no functions. */
  functionIn?(variable: string, value: string): string | undefined;
  /** The state with the listed variables replaced. */
  withVariables?(state: ShellState, listed: ByteString): Pick<ShellState, "script" | "exportedNames">;
  launch(shell: string, dir: string): Launch;
  initialState(env: Record<string, string>): InitialState;
  /** Restores the state in a new shell and enters the session's directory. */
  stateScript(state: ShellState): ByteString;
  /** The startup file: it waits for the state and the command, and reports at the end. */
  bootScript(dir: string, boot?: ShellBoot): ByteString;
  /** A dialect may report more than the plan asks for. */
  commandScript(feed: CommandFeed, dir: string, plan?: ReportPlan): CommandScript;
  /** Undefined if the report is incomplete, because the shell died before it could write it. */
  readReport(report: ByteString, context: ReportContext): ReportedState | undefined;
}

export interface ReportContext {
  /** Of the command that ran before the report. */
  feed: Surroundings;
  dir: string;
  launchEnv: Record<string, string>;
}

/**
 * Words for a shell that takes in-place runs, on descriptor 4: run the command; run it and list the variables named on
 * the next line; take no more in-place runs. The prologue follows the last one.
 */
export const inPlaceWords = { run: "r", runAndList: "v", none: "g" } as const;

/** Files in a shell's directory. */
export const shellFiles = {
  /** A state's script that is too long for descriptor 3. */
  restore: "restore",
  /** A prologue that is too long for descriptor 4. */
  prologue: "prologue",
  /** What bash 3.2 has read from descriptor 4. */
  copy: "copy",
  report: "state",
  /** The session's values of the variables that only this command got. */
  savedEnv: "env",
  /** The user's signal handlers, which are silenced during the report. */
  handlers: "handlers",
  /** Names of all functions, for the part of the report that has their line numbers. */
  functions: "functions",
  /** The report function, if the command may list functions. */
  hook: "hook",
} as const;
