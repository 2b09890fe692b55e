// Lines and readings that the dialects have in common.
import { type ByteString, fromText, quote } from "./byte-string.ts";
import { type CommandFeed, goneDir } from "./dialect.ts";

export function exportLines(env: [ByteString, ByteString][]): ByteString {
  return env.map(([name, value]) => `export ${name}=${quote(value)}\n`).join("");
}

/** How a shell changes its own descriptors, whatever functions the user has defined. */
export type Redirect = (redirections: string) => ByteString;

/** What a state's script prints is nobody's: some variables are read-only in every shell, `pushd` lists. */
export const silently = (script: ByteString, redirect: Redirect): ByteString =>
  `exec 6>&1 7>&2 >/dev/null 2>&1\n${script}\n${redirect(">&6 2>&7 6>&- 7>&-")}`;

/** Puts the command's input in place and closes what the machinery used. */
export const closeDescriptors = (feed: CommandFeed, redirect: Redirect): ByteString =>
  redirect(`${feed.hasStdin ? "0<&5 " : ""}3<&- 4<&- 5<&-`);

/** `builtin` is the shell's word for "not the user's function of that name". */
export function enterDirectory(feed: CommandFeed, dir: string, builtin: string): ByteString {
  const { previousDir } = feed.state;
  const oldpwd = previousDir === undefined ? `${builtin} unset OLDPWD\n` : `OLDPWD=${quote(previousDir)}\n`;
  if (!feed.isGone) return `${builtin} cd -- ${quote(feed.workingDir)} || exit 126\n${oldpwd}`;
  // As in a terminal whose directory was removed: an unlinked directory, from which one can only go elsewhere.
  const gone = quote(fromText(`${dir}/${goneDir}`));
  const unlinked = `${builtin} cd -- ${gone} || exit 126\ncommand -p rmdir -- ${gone}\n`;
  return `${unlinked}PWD=${quote(feed.workingDir)}\n${oldpwd}`;
}

export function applyEnv(feed: CommandFeed, builtin: string): ByteString {
  const lines = feed.env.map(([name, value]) =>
    value === null ? `${builtin} unset ${name}\n` : `${builtin} export ${name}=${quote(value)}\n`,
  );
  return `${lines.join("")}${builtin} export TRL_COMMAND_ID=${feed.commandId}\n`;
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
export function directoryAfter(pwd: ByteString, feed: CommandFeed, dir: string): ByteString {
  const reported = pwd.endsWith("\n") ? pwd.slice(0, -1) : pwd;
  return reported === fromText(`${dir}/${goneDir}`) ? feed.workingDir : reported;
}

/** What was switched on and off against a base, without names that are never kept. */
export function optionChanges(base: string[], now: string[], neverKept: string[]) {
  const isKept = (name: string) => name !== "" && !neverKept.includes(name);
  return {
    on: now.filter((name) => isKept(name) && !base.includes(name)),
    off: base.filter((name) => isKept(name) && !now.includes(name)),
  };
}
