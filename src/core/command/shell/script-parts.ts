// Lines and readings that the dialects have in common.
import { posix } from "node:path";
import { type ByteString, fromText, quote } from "../../process/byte-string.ts";
import { isShellName } from "../../process/environment.ts";
import { type CommandFeed, type ReportContext, type ShellState, shellFiles } from "./dialect.ts";
import lostDirectoryText from "./lost-directory.sh" with { type: "text" };
import { shellProgram } from "./shell-program.ts";

const lostDirectoryProgram = shellProgram(lostDirectoryText);

/** A file of the shell's directory, as a word. */
export const fileWord = (dir: string, name: keyof typeof shellFiles): ByteString =>
  quote(fromText(`${dir}/${shellFiles[name]}`));

export const exportLine = (name: string, value: string): ByteString =>
  `export ${name}=${quote(fromText(value))}\n`;

/** Variables that every shell of the session is started with, and that the user has unset since. */
export function unsetLines(
  launchEnv: Record<string, string>,
  present: { has(name: string): boolean },
): ByteString {
  const gone = Object.keys(launchEnv).filter((name) => isShellName(name) && !present.has(name));
  return gone.length > 0 ? `unset ${gone.join(" ")}\n` : "";
}

/** Ends the shell without a report, before the command has run. `exit` is the dialect's, as functions may hide it. */
export const giveUp = (exit: string): ByteString => `{ __trl_done=1; ${exit} 126; }`;

/** Functions as the shell has listed them. One that it cannot read again costs those after it, and no more. */
export const defineFunctions = (functions: ByteString): ByteString =>
  functions.trim() === "" ? "" : `eval ${quote(functions)}\n`;

/** Puts the command's input in place and closes what the machinery used: the operands of an `exec`. */
export const descriptors = (feed: CommandFeed): string => `${feed.hasStdin ? "0<&5 " : ""}3<&- 4<&- 5<&-`;

/** Ahead of its command a shell goes where the session stands; if it cannot, that is told when it matters. */
export function waitInDirectory(state: ShellState, builtin: string): ByteString {
  return `${builtin} cd -- ${quote(state.workingDir)} && __trl_astray=\n${restoreOldpwd(state, builtin)}`;
}

/** `builtin` is the shell's word for "not the user's function of that name". */
function restoreOldpwd({ previousDir }: ShellState, builtin: string): ByteString {
  return previousDir === undefined ? `${builtin} unset OLDPWD\n` : `OLDPWD=${quote(previousDir)}\n`;
}

/** So deep that no `../..` of a command leads from it to the shell's own directory. */
const lostDirectory = (dir: string): string => `${dir}/removed${"/_".repeat(50)}`;

/** See lost-directory.sh. */
function enterLostDirectory(feed: CommandFeed, dir: string, words: ShellWords): ByteString {
  const missing = missingParents(feed).map(quote);
  const program = lostDirectoryProgram({
    BUILTIN: words.builtin,
    COMMAND: words.command,
    EXIT: words.exit,
    DIRECTORY: quote(feed.workingDir),
    MISSING: missing.join(" "),
    MISSING_INNERMOST_FIRST: missing.toReversed().join(" "),
    OWN_DIRECTORY: quote(fromText(lostDirectory(dir))),
  });
  return program + restoreOldpwd(feed.state, words.builtin);
}

/** Its directory and those above it that do not exist, the uppermost first. */
function missingParents({ workingDir, existingParent = "/" }: CommandFeed): ByteString[] {
  const base = existingParent === "/" ? "" : existingParent;
  const names = workingDir.slice(base.length + 1).split("/");
  return names.map((_, at) => `${base}/${names.slice(0, at + 1).join("/")}`);
}

/** The dialect's words for builtins that functions of the session do not hide. */
export interface ShellWords {
  builtin: string;
  command: string;
  exit: string;
}

/** Only where the command is to run elsewhere has the shell to move. */
export function moveToDirectory(feed: CommandFeed, dir: string, words: ShellWords): ByteString {
  if (feed.place === "gone") return enterLostDirectory(feed, dir, words);
  const { builtin, exit } = words;
  const move = `${builtin} cd -- ${quote(feed.workingDir)} || ${giveUp(exit)}`;
  if (feed.place === "here") return `case \${__trl_astray-} in ?*) ${move};; esac\n`;
  return `${move}\n${restoreOldpwd(feed.state, builtin)}`;
}

export function applyEnv(feed: CommandFeed, builtin: string): ByteString {
  const tag = `${builtin} export TRL_COMMAND_ID=${feed.commandId}\n`;
  if (feed.env.length === 0) return tag;
  const lines = feed.env.map(([name, value]) =>
    value === null ? `${builtin} unset -v ${name}\n` : `${builtin} export ${name}=${quote(value)}\n`,
  );
  // A variable may be read-only; that is not worth a word on the user's stderr.
  return `{\n${lines.join("")}} 2>/dev/null\n${tag}`;
}

const trapWord = /\btrap\b/i;
const exitWord = /\b(?:SIG)?EXIT\b|\s0(?![^\s;&|)}])/i;
const trapList = /\btrap(?:\s+-p\b|\s*(?:$|[;&|)\n]))/;
const sourcing = /\bsource\b|(?:^|[\s;&|({])\.\s/;

/** Whether the command could replace or see the hook on EXIT, through which the state is reported. */
export function maySetExitTrap({ command, state }: CommandFeed): boolean {
  return (
    namesExitTrap(command) || trapList.test(command) || sourcing.test(command) || namesExitTrap(state.script)
  );
}

/** In whatever order: one pattern for both words would look for the second behind every occurrence of the first. */
const namesExitTrap = (text: ByteString): boolean => trapWord.test(text) && exitWord.test(text);

const handling = /\b(?:trap|exec|eval)\b/;

/** Whether the command's shell could have handlers of the user's own, or become another program that has. */
export function mayHandleSignals({ command, state }: CommandFeed): boolean {
  const texts = [command, state.script, state.lateScript];
  return texts.some((text) => handling.test(text) || sourcing.test(text));
}

/**
 * The fields of a report, or nothing where it is not whole, or more than one: a child that is killed before it becomes
 * its program may write one as well, into the same file. What is ahead of the fields is of no interest.
 */
export function reportFields(
  report: ByteString,
  count: number,
  end: "whole" | "part" | "moved" = "whole",
): ByteString[] | undefined {
  const parts = report.split("\0");
  if (parts.length === count + 2 && parts.at(-1) === end) return parts.slice(1);
  // Of a shell that was started by an earlier version, before an upgrade: it has nothing ahead of them.
  return parts.length === count + 1 && parts.at(-1) === "end" ? parts : undefined;
}

/** Where the session stands after a command that printed `pwd`. */
export function directoryAfter(pwd: ByteString, { feed, dir }: ReportContext): ByteString {
  const printed = pwd.endsWith("\n") ? pwd.slice(0, -1) : pwd;
  // `cd ..` from one unlinked directory to another: bash has no better name for that than ".../removed/..".
  const reported = /\/\.\.?(?:\/|$)/.test(printed) ? posix.normalize(printed) : printed;
  if (feed.place !== "gone") return reported;
  if (!reported.startsWith(fromText(`${dir}/`))) return reported;
  return reported === fromText(lostDirectory(dir))
    ? feed.workingDir
    : (feed.existingParent ?? feed.workingDir);
}

/** What was switched on and off against a base, without names that are never kept. */
export function optionChanges(base: string[], now: string[], neverKept: string[]) {
  const isKept = (name: string) => name !== "" && !neverKept.includes(name);
  return {
    on: now.filter((name) => isKept(name) && !base.includes(name)),
    off: base.filter((name) => isKept(name) && !now.includes(name)),
  };
}
