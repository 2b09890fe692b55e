// Most of what an agent runs (`ls -la`, `git status 2>&1 | head`, `npm test && echo done`) cannot change the shell
// that runs it. Such a command is recognised by its text, and the shell is then not asked for its state: to list
// it costs as much as a small command itself. Whatever is not certain counts as able to change anything.

import type { ByteString } from "../../../process/byte-string.ts";
import { recordsIn } from "../bash/environment.ts";
import type { CommandFeed, ShellState } from "../dialect.ts";
import { loopIn } from "./loops.ts";
import { isPlainBuiltin } from "./plain-builtins.ts";
import { type SimpleCommand, simpleCommands } from "./simple-commands.ts";
import { assignmentPattern, specialNames } from "./variable-names.ts";

/** Builtins and words of the language, in bash and in its smaller relatives, but for those that change nothing. */
const changing = new Set(
  `. alias bg bind break builtin caller cd chdir command compgen complete compopt continue declare dirs disown
  enable eval exec exit export fc fg getopts hash help history jobs let local logout mapfile popd printf pushd read
  readarray readonly return set shift shopt source suspend test times trap type typeset ulimit umask unalias unset wait
  if then else elif fi case esac for select while until do done in function time coproc`.split(/\s+/),
);

/** Not a number: that may be the descriptor of a redirection, with the command behind it. */
const programPattern = /^(?:(?!\d+$)[\w./+-]+|:)$/;

/** To read a reference may be to compute the index of an array, and that may assign. */
const referencePattern = /^declare -\w*n/m;

/** What of the shell a command can change. */
export type Change = "anything" | { directory: boolean; variables: readonly string[] };

/** Whether the command leaves a shell in that state as it is, whatever its programs do. */
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

/** An earlier version wrote down commands that are to be done again, behind everything else, until the next whole report. */
export const hasRepeats = ({ script }: ShellState): boolean => script.includes("\n\nbuiltin cd -- '");

interface Parts {
  /** Names that are assigned to ahead of its words; for a program alone, where it has words. */
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

/** Of the shell's variables, those that it only reads anew when it has run the program. */
const ofPrograms = /^(?:LANG|LANGUAGE|LC_\w+|TERM|TZ)$/;

/** An integer is calculated, a reference assigns to another, and so on. */
const hasAttributes = (name: string, state: ShellState): boolean =>
  (recordsIn(state).get(name) ?? []).some(({ flags }) => /[^x-]/.test(flags));

/** Each is looked for in the whole state, and that may be long: a command of more programs is no small one. */
const mostNames = 100;

/** The state is asked as text: a function or an alias of the name looks so in it, and much else may, too. */
function isAnyDefined(names: readonly ByteString[], known: ByteString): boolean {
  const mentioned = names.filter((name) => known.includes(name));
  if (mentioned.length === 0) return false;
  const escaped = mentioned.map((name) => name.replaceAll(/[.+[]/g, "\\$&"));
  return new RegExp(`(?:^|[\\s'])(?:${escaped.join("|")})(?: ?\\(\\)|=)`, "m").test(known);
}
