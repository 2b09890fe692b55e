// Lines and readings that the dialects have in common.
import { isShellName } from "../environment.ts";
import { type ByteString, fromText, quote } from "./byte-string.ts";
import { type CommandFeed, type ReportContext, shellFiles } from "./dialect.ts";

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

/** How a shell changes its own descriptors, whatever functions the user has defined. */
export type Redirect = (redirections: string) => ByteString;

/** Waits for the state, then for the command. What a state's script prints is nobody's. */
export const awaitBoth = (redirect: Redirect): ByteString =>
  `exec 6>&1 7>&2 >/dev/null 2>&1\n. /dev/fd/3\n${redirect(">&6 2>&7 6>&- 7>&-")}. /dev/fd/4\n`;

/** Puts the command's input in place and closes what the machinery used. */
export const closeDescriptors = (feed: CommandFeed, redirect: Redirect): ByteString =>
  redirect(`${feed.hasStdin ? "0<&5 " : ""}3<&- 4<&- 5<&-`);

/** `builtin` is the shell's word for "not the user's function of that name". */
export function enterDirectory(feed: CommandFeed, dir: string, builtin: string): ByteString {
  const { previousDir } = feed.state;
  const oldpwd = previousDir === undefined ? `${builtin} unset OLDPWD\n` : `OLDPWD=${quote(previousDir)}\n`;
  if (!feed.isGone) return `${builtin} cd -- ${quote(feed.workingDir)} || exit 126\n${oldpwd}`;
  // As in a terminal whose directory was removed: an unlinked directory, from which one can only go elsewhere.
  const gone = fileWord(dir, "gone");
  const unlinked = `${builtin} cd -- ${gone} || exit 126\ncommand -p rmdir -- ${gone}\n`;
  return `${unlinked}PWD=${quote(feed.workingDir)}\n${oldpwd}`;
}

export function applyEnv(feed: CommandFeed, builtin: string): ByteString {
  const lines = feed.env.map(([name, value]) =>
    value === null ? `${builtin} unset ${name}\n` : `${builtin} export ${name}=${quote(value)}\n`,
  );
  // A variable may be read-only; that is not worth a word on the user's stderr.
  return `{\n${lines.join("")}${builtin} export TRL_COMMAND_ID=${feed.commandId}\n} 2>/dev/null\n`;
}

const exitTrap = /\btrap\b[\s\S]*?(?:\bEXIT\b|\s0(?![^\s;&|)}]))/;
const sourcing = /\bsource\b|(?:^|[\s;&|({])\.\s/;

/** Whether the command could replace the hook on EXIT, through which the state is reported. */
export function maySetExitTrap({ command, state }: CommandFeed): boolean {
  return exitTrap.test(command) || sourcing.test(command) || exitTrap.test(state.script);
}

/** The fields of a report, or nothing where it is not whole. */
export function reportFields(report: ByteString, count: number): ByteString[] | undefined {
  const parts = report.split("\0");
  return parts.length === count + 1 && parts[count] === "end" ? parts : undefined;
}

/** Where the session stands after a command that printed `pwd`. */
export function directoryAfter(pwd: ByteString, { feed, dir }: ReportContext): ByteString {
  const reported = pwd.endsWith("\n") ? pwd.slice(0, -1) : pwd;
  return reported === fromText(`${dir}/${shellFiles.gone}`) ? feed.workingDir : reported;
}

/** What was switched on and off against a base, without names that are never kept. */
export function optionChanges(base: string[], now: string[], neverKept: string[]) {
  const isKept = (name: string) => name !== "" && !neverKept.includes(name);
  return {
    on: now.filter((name) => isKept(name) && !base.includes(name)),
    off: base.filter((name) => isKept(name) && !now.includes(name)),
  };
}
