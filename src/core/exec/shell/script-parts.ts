// Lines and readings that the dialects have in common.
import { isDirectory } from "../directories.ts";
import { isShellName } from "../environment.ts";
import { type ByteString, bytesOf, fromText, quote } from "./byte-string.ts";
import { type CommandFeed, type ReportContext, type ShellState, shellFiles } from "./dialect.ts";

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

/** Waits for the state. What its script prints is nobody's. */
export const awaitState = "__trl_astray=1\n. /dev/fd/3 >/dev/null 2>&1\n";

/** Waits for the command's surroundings. */
export const awaitCommand = ". /dev/fd/4\n";

/** Without a report: nothing of the user's has run. */
export const giveUp = "{ __trl_done=1; exit 126; }";

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

/** As in a terminal whose directory was removed: an unlinked one, from which one can only go elsewhere. */
function enterLostDirectory(feed: CommandFeed, dir: string, builtin: string): ByteString {
  const gone = fileWord(dir, "gone");
  return `${builtin} cd -- ${gone} || ${giveUp}\ncommand -p rmdir -- ${gone}\nPWD=${quote(feed.workingDir)}\n`;
}

/** Only where the command is to run elsewhere has the shell to move. */
export function moveToDirectory(feed: CommandFeed, dir: string, builtin: string): ByteString {
  if (feed.place === "gone") return enterLostDirectory(feed, dir, builtin);
  const move = `${builtin} cd -- ${quote(feed.workingDir)} || ${giveUp}`;
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

const exitTrap = /\btrap\b[\s\S]*?(?:\b(?:SIG)?EXIT\b|\s0(?![^\s;&|)}]))/i;
const trapList = /\btrap(?:\s+-p\b|\s*(?:$|[;&|)\n]))/;
const sourcing = /\bsource\b|(?:^|[\s;&|({])\.\s/;

/** Whether the command could replace or see the hook on EXIT, through which the state is reported. */
export function maySetExitTrap({ command, state }: CommandFeed): boolean {
  return (
    exitTrap.test(command) || trapList.test(command) || sourcing.test(command) || exitTrap.test(state.script)
  );
}

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
export function reportFields(report: ByteString, count: number): ByteString[] | undefined {
  const parts = report.split("\0");
  if (parts.length === count + 2 && parts.at(-1) === "whole") return parts.slice(1);
  // Of a shell that was started by an earlier version, before an upgrade: it has nothing ahead of them.
  return parts.length === count + 1 && parts.at(-1) === "end" ? parts : undefined;
}

/** Where the session stands after a command that printed `pwd`. */
export function directoryAfter(pwd: ByteString, { feed, dir }: ReportContext): ByteString {
  const reported = pwd.endsWith("\n") ? pwd.slice(0, -1) : pwd;
  if (feed.place !== "gone") return reported;
  const lost = fromText(`${dir}/${shellFiles.gone}`);
  if (reported === lost) return feed.workingDir;
  // `cd ..` out of a directory that was removed leads to where that one was.
  return lost.startsWith(`${reported}/`) ? nearestExisting(feed.workingDir) : reported;
}

function nearestExisting(path: ByteString): ByteString {
  return isDirectory(bytesOf(path)) ? path : nearestExisting(path.slice(0, path.lastIndexOf("/")) || "/");
}

/** What was switched on and off against a base, without names that are never kept. */
export function optionChanges(base: string[], now: string[], neverKept: string[]) {
  const isKept = (name: string) => name !== "" && !neverKept.includes(name);
  return {
    on: now.filter((name) => isKept(name) && !base.includes(name)),
    off: base.filter((name) => isKept(name) && !now.includes(name)),
  };
}
