// Lines of scripts, and parsers of reports, that the dialects share.
import { posix } from "node:path";
import { type ByteString, fromText, quote } from "../../process/byte-string.ts";
import { isShellName } from "../../process/environment.ts";
import {
  type CommandFeed,
  type ReportContext,
  type ShellState,
  type Surroundings,
  shellFiles,
} from "./dialect.ts";
import lostDirectoryText from "./lost-directory.sh" with { type: "text" };
import { shellProgram } from "./shell-program.ts";

const lostDirectoryProgram = shellProgram(lostDirectoryText);

/** The dialect's words for builtins that functions of the session cannot hide. */
export interface ShellWords {
  builtin: string;
  command: string;
  exit: string;
}

/** A file in the shell's directory, quoted as a shell word. */
export const fileWord = (dir: string, name: keyof typeof shellFiles): ByteString =>
  quote(fromText(`${dir}/${shellFiles[name]}`));

/** A line with the command and its names; empty without names. */
export const commandLine = (command: string, names: readonly string[]): ByteString =>
  names.length > 0 ? `${command} ${names.join(" ")}\n` : "";

export const exportLine = (name: string, value: string): ByteString =>
  `export ${name}=${quote(fromText(value))}\n`;

/** Unsets launch variables, which every shell of the session starts with, that the user has unset since. */
export function unsetLines(
  launchEnv: Record<string, string>,
  present: { has(name: string): boolean },
): ByteString {
  return commandLine(
    "unset",
    Object.keys(launchEnv).filter((name) => isShellName(name) && !present.has(name)),
  );
}

/** Ends the shell without a report, before the command has run. */
const giveUp = (exit: string): ByteString => `{ __trl_done=1; ${exit} 126; }`;

/**
 * The positive sign that the command begins: the boot program, which the shell has read, becomes empty. The boot program
 * sets __trl_done, so that a shell that fails before this line reports nothing.
 */
export const beginLine = (
  bootPath: string,
  { builtin, exit }: Pick<ShellWords, "builtin" | "exit">,
): ByteString =>
  `${builtin} : >|${quote(fromText(bootPath))} || ${giveUp(exit)}\n${builtin} unset __trl_done\n`;

/** Defines functions as the shell has listed them. If it cannot parse one of them, only those after it are lost. */
export const defineFunctions = (functions: ByteString): ByteString =>
  functions.trim() === "" ? "" : `eval ${quote(functions)}\n`;

/** Operands of an `exec` that connects the command's stdin and closes trl's own descriptors. */
export const descriptors = (feed: CommandFeed): string => `${feed.hasStdin ? "0<&5 " : ""}3<&- 4<&- 5<&-`;

/** A warm shell enters the session's directory. If `cd` fails, __trl_astray stays set, and the prologue repeats it. */
export function waitInDirectory(state: ShellState, builtin: string): ByteString {
  return `${builtin} cd -- ${quote(state.workingDir)} && __trl_astray=\n${restoreOldpwd(state, builtin)}`;
}

function restoreOldpwd({ previousDir }: ShellState, builtin: string): ByteString {
  return previousDir === undefined ? `${builtin} unset OLDPWD\n` : `OLDPWD=${quote(previousDir)}\n`;
}

/** Nested so deep that no `../..` of a command leads from it to the shell's own directory. */
const ownLostDirectory = (dir: string): string => `${dir}/removed${"/_".repeat(50)}`;

function enterLostDirectory(feed: CommandFeed, dir: string, words: ShellWords): ByteString {
  const missing = missingDirectories(feed).map(quote);
  const program = lostDirectoryProgram({
    BUILTIN: words.builtin,
    COMMAND: words.command,
    EXIT: words.exit,
    DIRECTORY: quote(feed.workingDir),
    MISSING: missing.join(" "),
    MISSING_INNERMOST_FIRST: missing.toReversed().join(" "),
    OWN_DIRECTORY: quote(fromText(ownLostDirectory(dir))),
  });
  return program + restoreOldpwd(feed.state, words.builtin);
}

/** The working directory and its parents that do not exist, outermost first. */
function missingDirectories({ workingDir, existingParent = "/" }: CommandFeed): ByteString[] {
  const base = existingParent === "/" ? "" : existingParent;
  const names = workingDir.slice(base.length + 1).split("/");
  return names.map((_, at) => `${base}/${names.slice(0, at + 1).join("/")}`);
}

/** Enters the command's directory, unless the warm shell is in it already. */
export function moveToDirectory(feed: CommandFeed, dir: string, words: ShellWords): ByteString {
  if (feed.place === "gone") return enterLostDirectory(feed, dir, words);
  const { builtin, exit } = words;
  const move = `${builtin} cd -- ${quote(feed.workingDir)} || ${giveUp(exit)}`;
  if (feed.place === "here") return `case \${__trl_astray-} in ?*) ${move};; esac\n`;
  return `${move}\n${restoreOldpwd(feed.state, builtin)}`;
}

/** Sets and unsets the variables of this command. Errors are dropped: a variable may be readonly. */
export function applyEnv(feed: CommandFeed, builtin: string): ByteString {
  const idLine = `${builtin} export TRL_COMMAND_ID=${feed.commandId}\n`;
  if (feed.env.length === 0) return idLine;
  const lines = feed.env.map(([name, value]) =>
    value === null ? `${builtin} unset -v ${name}\n` : `${builtin} export ${name}=${quote(value)}\n`,
  );
  return `{\n${lines.join("")}} 2>/dev/null\n${idLine}`;
}

/** Whether the variable was set or unset for this command only. */
export const isGiven = (name: string, { env }: Surroundings): boolean =>
  env.some(([given]) => given === name);

const trapWord = /\btrap\b/i;
const exitWord = /\b(?:SIG)?EXIT\b|\s0(?![^\s;&|)}])/i;
const trapList = /\btrap(?:\s+-p\b|\s*(?:$|[;&|)\n]))/;
const sourcing = /\bsource\b|(?:^|[\s;&|({])\.\s/;

/** Whether the command could replace or list the EXIT trap, by which the shell reports its state. */
export function maySetExitTrap({ command, state }: CommandFeed): boolean {
  return (
    namesExitTrap(command) || trapList.test(command) || sourcing.test(command) || namesExitTrap(state.script)
  );
}

/** Two patterns, because one for both words would search for the second after every occurrence of the first. */
const namesExitTrap = (text: ByteString): boolean => trapWord.test(text) && exitWord.test(text);

const handling = /\b(?:trap|exec|eval)\b/;

/** Whether the command's shell could have signal handlers of the user, or become another program that has. */
export function mayHandleSignals({ command, state }: CommandFeed): boolean {
  const texts = [command, state.script, state.lateScript];
  return texts.some((text) => handling.test(text) || sourcing.test(text));
}

/**
 * The fields of a report without the text before the first one. Undefined if the report is incomplete, or if there are
 * two: a child that is killed before its exec may write one to the same file.
 */
export function reportFields(
  report: ByteString,
  count: number,
  end: "whole" | "part" | "moved" = "whole",
): ByteString[] | undefined {
  const parts = report.split("\0");
  if (parts.length === count + 2 && parts.at(-1) === end) return parts.slice(1);
  // A shell that an earlier version started, before an upgrade, writes nothing before the first field.
  return parts.length === count + 1 && parts.at(-1) === "end" ? parts : undefined;
}

/** The session's directory after its shell reported `pwd`. */
export function directoryAfter(pwd: ByteString, { feed, dir }: ReportContext): ByteString {
  const printed = pwd.endsWith("\n") ? pwd.slice(0, -1) : pwd;
  // After `cd ..` from one unlinked directory to another, bash prints a path such as ".../removed/..".
  const reported = /\/\.\.?(?:\/|$)/.test(printed) ? posix.normalize(printed) : printed;
  if (feed.place !== "gone") return reported;
  if (!reported.startsWith(fromText(`${dir}/`))) return reported;
  return reported === fromText(ownLostDirectory(dir))
    ? feed.workingDir
    : (feed.existingParent ?? feed.workingDir);
}

/** Options that are on or off in contrast to a base, without those that a new shell must not get. */
export function optionChanges(base: string[], now: string[], notRestored: string[]) {
  const isRestored = (name: string) => name !== "" && !notRestored.includes(name);
  return {
    on: now.filter((name) => isRestored(name) && !base.includes(name)),
    off: base.filter((name) => isRestored(name) && !now.includes(name)),
  };
}
