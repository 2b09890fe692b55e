// How a kind of shell is started ahead, given its state and its command, and read back. A shell that waits
// is told its state on descriptor 3 and its command's surroundings on 4; 5 is the command's input. All three are
// closed before the user's first word runs, but for a visit, which can do nothing with them. At its end it writes its state to a file in its private directory,
// through a descriptor that is open for that moment only.
import type { ByteString } from "../../process/byte-string.ts";

/** What a session carries from one command to the next. */
export interface ShellState {
  workingDir: ByteString;
  previousDir: ByteString | undefined;
  /** Makes a new shell like the one that reported it. Only the dialect that wrote it reads it. */
  script: ByteString;
  /** Options that show, stop or change the lines after them, as the last lines before the command. */
  lateScript: ByteString;
  /** Aliases, where they would act on the machinery's own lines: defined after all of them. */
  aliasScript?: ByteString;
  exportedNames: readonly string[];
  lastStatus: number;
}

export interface Launch {
  argv: string[];
  /** On top of the session's own environment, with which every shell is started. */
  env: Record<string, string>;
}

/** What a session's first shell is started with, and told. */
export interface InitialState extends Pick<ShellState, "script" | "lateScript"> {
  launchEnv: Record<string, string>;
}

export interface CommandFeed {
  commandId: string;
  command: ByteString;
  state: ShellState;
  /** Where it runs, absolute. */
  workingDir: ByteString;
  /** "here" is where the shell already waits; "gone" is a directory that exists no more. */
  place: "here" | "elsewhere" | "gone";
  /** The nearest directory above one that is gone. */
  existingParent?: ByteString;
  /** For this command alone; `null` unsets. Names are valid identifiers. */
  env: [name: ByteString, value: ByteString | null][];
  /** Functions for this command alone. */
  functions: [name: string, body: ByteString][];
  hasStdin: boolean;
  /** It was given names that only the environment can carry; bash takes functions from there. */
  mayImportFunctions: boolean;
}

export type Surroundings = Pick<CommandFeed, "state" | "workingDir" | "place" | "existingParent" | "env">;

export interface CommandScript {
  prologue: ByteString;
  /** Text of `commandFile`, where the dialect has one. */
  file?: ByteString;
}

/** What a state changes of the variables that every shell of the session is started with. */
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
  /** The file in the shell's directory that holds the command; empty where the command needs none. */
  commandFile: string;
  /** The file in the shell's directory that it reads first. */
  bootFile: string;
  /** What reads a file, whatever function the session has by the name of `.`. */
  source: string;
  /** The name of the function that this variable of the environment hands over. A dialect without it takes none. */
  functionIn?(variable: string, value: string): string | undefined;
  /** The state with those variables as the shell lists them. */
  withVariables?(state: ShellState, listed: ByteString): Pick<ShellState, "script" | "exportedNames">;
  launch(shell: string, dir: string): Launch;
  initialState(env: Record<string, string>): InitialState;
  /** Makes a new shell like the one that reported the state, and puts it where the session stands. */
  stateScript(state: ShellState): ByteString;
  /** The startup file: what waits for the state and the command, and reports at the end. */
  bootScript(dir: string, boot?: ShellBoot): ByteString;
  /** A dialect may report more than the plan asks for. */
  commandScript(feed: CommandFeed, dir: string, plan?: ReportPlan): CommandScript;
  /** Undefined where the report is not whole: then the shell died before it could write it. */
  readReport(report: ByteString, context: ReportContext): ReportedState | undefined;
}

export interface ReportContext {
  /** Of the command before the report. */
  feed: Surroundings;
  dir: string;
  launchEnv: Record<string, string>;
}

/**
 * Commands to a shell that takes in-place runs, on descriptor 4: run the command; run it and list the variables named on
 * the next line; take no more in-place runs. The last one is followed by the prologue.
 */
export const inPlaceWords = { run: "r", runAndList: "v", none: "g" } as const;

/** Files in a shell's directory. */
export const shellFiles = {
  /** A state's script, where it is too long for descriptor 3. */
  restore: "restore",
  /** The last lines before the command, where they are too long for descriptor 4. */
  prologue: "prologue",
  report: "state",
  /** Old values of the variables that a command was given for itself alone. */
  savedEnv: "env",
  /** The user's handlers that are not to see what the machinery does. */
  handlers: "handlers",
  /** Names of functions, whose lines are asked for. */
  functions: "functions",
  /** The report's function, where the shell is not to show it. */
  hook: "hook",
} as const;
