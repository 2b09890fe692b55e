// How a kind of shell is started ahead, given its state and its command, and read back. A shell that waits
// is told its state on descriptor 3 and its command's surroundings on 4; 5 is the command's input. All three are
// closed before the user's first word runs, but for a visit, which can do nothing with them. At its end it writes its state to a file in its private directory,
// through a descriptor that is open for that moment only.
import type { ByteString } from "../../process/byte-string.ts";
import type { InPlaceKind } from "./analysis/in-place-kind.ts";

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
  /** It leaves the shell as it is, and there will be no report. */
  isHarmless?: boolean;
  /** The shell is replaced by the program that the command consists of. */
  execsProgram?: boolean;
}

/** What is to be known for starting a program without a shell, as a shell would start it. */
export interface ProgramDialect {
  /** The words of a command that is one program and nothing else; undefined where only a shell can tell. */
  wordsOf(feed: CommandFeed): [string, ...string[]] | undefined;
  /** Undefined where not all that a program would be given is certain. */
  exportsIn(state: ShellState): ExportChanges | undefined;
}

/** What a state changes of the variables that every shell of the session is started with. */
export interface ExportChanges {
  unset: string[];
  set: Record<string, string>;
}

/** "part": of the directory and of those variables that the command can have changed. */
export type ReportKind = "none" | "part" | "whole";

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
  /** Whether a shell that waits can run the command and wait on. A dialect without it has no such shells. */
  inPlaceKind?(feed: CommandFeed): InPlaceKind | undefined;
  /** The state with those variables as the shell lists them. */
  withVariables?(state: ShellState, listed: ByteString): Pick<ShellState, "script" | "exportedNames">;
  /** A dialect without it has every program started by a shell. */
  programs?: ProgramDialect;
  launch(shell: string, dir: string): Launch;
  initialState(env: Record<string, string>): InitialState;
  /** Makes a new shell like the one that reported the state, and puts it where the session stands. */
  stateScript(state: ShellState): ByteString;
  /** What has to be reported after the command. A dialect without it always reports all. */
  reportKind?(feed: CommandFeed): ReportKind;
  /**
   * The startup file: what waits for the state and the command, and reports at the end. For one command that needs no
   * whole report it can be lean, and is read sooner; such a shell takes no visits.
   */
  bootScript(dir: string, isLean?: boolean): ByteString;
  commandScript(feed: CommandFeed, dir: string): CommandScript;
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
