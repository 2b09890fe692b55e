// A command that is one program and nothing else. Where its words say all, no shell is needed: the daemon can start it
// with the session's variables. Otherwise the shell has nothing to do after it, and need not wait for it: it becomes the
// program, as `bash -c` does, which saves a fork and its own end.
import { type ByteString, toText } from "../../../process/byte-string.ts";
import type { CommandFeed } from "../dialect.ts";
import { literal } from "./literal-words.ts";
import { simpleCommands } from "./simple-commands.ts";
import { isHarmless } from "./state-changes.ts";

/** Those that a harmless command can begin with: they would be found as files as well, and be others. */
const builtins = new Set([":", "[", "echo", "false", "kill", "printf", "pwd", "test", "true"]);

/** What is run by it goes on in the background where no shell has started it, but become it. */
const leavesSession = /\bsetsid\b/;

/** The words as the program is to have them; undefined where a shell has to read them, or does something else. */
export function programWords(feed: CommandFeed): [string, ...string[]] | undefined {
  const [first, ...more] = simpleCommands(feed.command) ?? [];
  const [program] = first?.words ?? [];
  if (program === undefined || more.length > 0 || first!.hasRedirection) return undefined;
  if (leavesSession.test(feed.command) || /[=$]/.test(program)) return undefined;
  if (!/^[;\n]?$/.test(first!.separator) || builtins.has(program) || !isHarmless(feed)) return undefined;
  const words = first!.words.map(literal);
  return words.includes(undefined)
    ? undefined
    : ((words as ByteString[]).map(toText) as [string, ...string[]]);
}

/** A depth of shells that is not just a number, aliases, and a function in place of the word that is needed. */
const unusual = /^(?!declare -x SHLVL="\d+"$).*SHLVL|^alias |(?:^|['\s])exec \(\)/m;

/**
 * The same command for a shell that becomes it, where it is harmless. On one line, so that messages count lines as
 * before; a program that is not found is looked for in the usual way, and missed in the usual words.
 */
export function becoming({ command, state }: CommandFeed): ByteString | undefined {
  const [first, ...more] = simpleCommands(command) ?? [];
  const [program] = first?.words ?? [];
  if (program === undefined || more.length > 0 || first!.separator !== "") return undefined;
  if (leavesSession.test(command) || /[=$]/.test(program)) return undefined;
  if (command.includes("$(")) return undefined; // it may ask for `$?` or SHLVL, which are another here
  if (builtins.has(program) || program.startsWith("-") || unusual.test(state.script)) return undefined;
  const isPath = program.startsWith("/");
  if (!isPath && program.includes("/")) return undefined; // it would be told its whole path
  const isThere = isPath ? `[[ -f ${program} && -x ${program} ]]` : `builtin hash ${program} 2>/dev/null`;
  const path = isPath ? program : `\${BASH_CMDS[${program}]}`;
  return `if ${isThere}; then _=${path} exec ${command}; else ${command}; fi\n`;
}

/** One level less is what `exec` counts, although the program is as deep as it would be otherwise. */
export const deeper = "SHLVL=$((SHLVL+1))\n";
