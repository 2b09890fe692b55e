// Finds out from a command's text what it can change of the shell that runs it. Most commands of an agent (`ls -la`,
// `git status 2>&1 | head`, `npm test && echo done`) change nothing. A command that is not certain can change anything.

import { recordsIn } from "../../core/command/shell/bash/environment.ts";
import type { CommandFeed, ShellState } from "../../core/command/shell/dialect.ts";
import type { ByteString } from "../../core/process/byte-string.ts";
import { loopIn } from "./loops.ts";
import { isPlainBuiltin } from "./plain-builtins.ts";
import { type SimpleCommand, simpleCommands } from "./simple-commands.ts";
import { assignmentPattern, specialNames } from "./variable-names.ts";

/** Builtins and keywords of bash, without those that change nothing. */
const changing = new Set(
  `. alias bg bind break builtin caller cd chdir command compgen complete compopt continue declare dirs disown
  enable eval exec exit export fc fg getopts hash help history jobs let local logout mapfile popd printf pushd read
  readarray readonly return set shift shopt source suspend test times trap type typeset ulimit umask unalias unset wait
  if then else elif fi case esac for select while until do done in function time coproc`.split(/\s+/),
);

/** Not a number: that may be the descriptor of a redirection before the command. */
const programPattern = /^(?:(?!\d+$)[\w./+-]+|:)$/;

/** Reading a nameref may compute an array index, and that may assign. */
const referencePattern = /^declare -\w*n/m;

/** What a command can change of the shell. */
export type Change = "anything" | { directory: boolean; variables: readonly string[] };

/** Whether the command changes nothing of a shell in that state. */
export function isHarmless(feed: CommandFeed): boolean {
  const change = changeOf(feed);
  return change !== "anything" && !change.directory && change.variables.length === 0;
}

/** That `cd` changes the directory alone is certain for one word at most. */
export function changeOf({ command, state, env, mayImportFunctions }: CommandFeed): Change {
  if (env.some(([name]) => name === "POSIXLY_CORRECT")) return "anything";
  const loop = loopIn(command);
  const commands = mayImportFunctions ? undefined : (loop?.body ?? simpleCommands(command))?.map(partsOf);
  const kinds = commands?.map(kindOf);
  if (!commands || !kinds || kinds.includes("changing")) return "anything";
  // Options that change what words mean (keyword, posix), or run something for each command (xtrace and its PS4).
  if (state.lateScript.includes("set ")) return "anything";
  if (hasRepeats(state)) return "anything";
  const known = state.script + (state.aliasScript ?? "");
  if (command.includes("$") && referencePattern.test(known)) return "anything";
  const names = new Set(commands.flatMap(({ words }) => words.slice(0, 1)));
  if (names.size > mostNames || isAnyDefined([...names], known)) return "anything";
  if (loop && specialNames.test(loop.variable)) return "anything";
  const ofLoop = loop ? [loop.variable] : [];
  const assigned = new Set([...ofLoop, ...commands.flatMap((each) => each.assigned)]);
  if (assigned.size > mostNames || [...assigned].some((name) => hasAttributes(name, state)))
    return "anything";
  const lasting = commands.flatMap((each) => (each.words.length === 0 ? each.assigned : []));
  return { directory: kinds.includes("moving"), variables: [...new Set([...ofLoop, ...lasting])] };
}

/** The state of an earlier version may end with commands to repeat, until the next whole report. */
export const hasRepeats = ({ script }: ShellState): boolean => script.includes("\n\nbuiltin cd -- '");

interface Parts {
  /** Assignments before the words. With words they are for that program alone. */
  assigned: string[];
  words: readonly ByteString[];
}

function partsOf({ words }: SimpleCommand): Parts {
  const assigned = words.map((word) => assignmentPattern.exec(word)?.[1]);
  const count = assigned.indexOf(undefined);
  const first = count === -1 ? words.length : count;
  return { assigned: assigned.slice(0, first) as string[], words: words.slice(first) };
}

function kindOf({ assigned, words }: Parts): "harmless" | "moving" | "changing" {
  const [name] = words;
  const isOfProgram = name !== undefined;
  if (assigned.some((each) => specialNames.test(each) && !(isOfProgram && ofPrograms.test(each))))
    return "changing";
  if (name === undefined || isPlainBuiltin(words)) return "harmless";
  if (name === "cd" && words.length <= 2 && assigned.length === 0) return "moving";
  return programPattern.test(name) && !changing.has(name) ? "harmless" : "changing";
}

/** Special variables that bash restores after the program. */
const ofPrograms = /^(?:LANG|LANGUAGE|LC_\w+|TERM|TZ)$/;

/** An assignment to an integer is evaluated, one to a nameref goes to another variable, and so on. */
const hasAttributes = (name: string, state: ShellState): boolean =>
  (recordsIn(state).get(name) ?? []).some(({ flags }) => /[^x-]/.test(flags));

/** Each name is searched in the whole state, which may be long. */
const mostNames = 100;

/** Searches the state as text for a function or an alias of the name; may find one where there is none. */
function isAnyDefined(names: readonly ByteString[], known: ByteString): boolean {
  const mentioned = names.filter((name) => known.includes(name));
  if (mentioned.length === 0) return false;
  const escaped = mentioned.map((name) => name.replaceAll(/[.+[]/g, "\\$&"));
  return new RegExp(`(?:^|[\\s'])(?:${escaped.join("|")})(?: ?\\(\\)|=)`, "m").test(known);
}
