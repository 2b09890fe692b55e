// Some commands are over so soon, and leave so little behind, that the shell which waits can run them and wait on: they
// start no process, open nothing, and cannot end, redefine or reconfigure the shell. They are told by their text, and
// by the state that the shell is in; whatever is not certain gets a shell of its own.
import type { ByteString } from "../../../process/byte-string.ts";
import type { CommandFeed } from "../dialect.ts";
import { isWellFormed, loopIn } from "./loops.ts";
import { isPlainBuiltin } from "./plain-builtins.ts";
import { type SimpleCommand, simpleCommands } from "./simple-commands.ts";
import { hasRepeats } from "./state-changes.ts";
import { assignmentPattern, specialNames } from "./variable-names.ts";

/** What a visit can change besides the directory. */
export interface InPlaceKind {
  variables: readonly string[];
}

const unchanging = new Set([":", "true", "false", "echo", "pwd"]);

const exportPattern = /^([A-Za-z_]\w*)(?:=|$)/;

/** They are not the same in a shell that has run something before, or is not told the command's id. */
const toldFromFresh = /\$\{?(?:_\b|BASH_|FUNCNAME|LINENO|RANDOM|SECONDS|TRL_)/;

/** Options (but for what functions are read with), aliases, attributes and functions with which these commands may do anything. */
const unusualState =
  /^(?:shopt -s (?!extglob\n__trl_define )|shopt -u (?!expand_aliases$)|(?:builtin )?set |builtin pushd |declare -(?=\w*[rni])\w* (?!OPTIND=)|alias )|(?:^|['\s])(?::|\[|true|false|echo|printf|pwd|test|cd|export) \(\)/m;

/** The list of variables goes through a pipe, and the daemon parses it in one turn of its event loop. */
const stateMaxChars = 65_536;
const namesMaxChars = 2048;

/** Undefined where it is to have a shell of its own. */
export function inPlaceKind({ command, state, ...feed }: CommandFeed): InPlaceKind | undefined {
  if (feed.env.length > 0 || feed.hasStdin || feed.place !== "here" || feed.mayImportFunctions)
    return undefined;
  if (state.script.length > stateMaxChars || command.length > stateMaxChars) return undefined;
  const variables = changedByList(simpleCommands(command)) ?? changedByLoop(command);
  if (!variables || toldFromFresh.test(command)) return undefined;
  if (state.lateScript.includes("set ") || unusualState.test(state.script) || hasRepeats(state))
    return undefined;
  // As one line in one write, which a pipe takes without waiting.
  if ([...variables].join(" ").length > namesMaxChars) return undefined;
  return { variables: [...variables] };
}

function changedByList(commands: readonly SimpleCommand[] | undefined): Set<string> | undefined {
  if (!commands || !isWellFormed(commands) || !commands.every(startsNothing)) return undefined;
  const changed = commands.map(changedBy);
  return changed.includes(undefined) ? undefined : new Set((changed as string[][]).flat());
}

/** A loop over words has an end. */
function changedByLoop(text: ByteString): Set<string> | undefined {
  const loop = loopIn(text);
  if (!loop || specialNames.test(loop.variable) || loop.words.some(substitutes)) return undefined;
  return changedByList(loop.body)?.add(loop.variable);
}

const substitutes = (word: ByteString): boolean => word.includes("$(");

/** Neither a pipe nor a substitution, which start processes, and no file is opened. */
const startsNothing = ({ words, hasRedirection, separator }: SimpleCommand): boolean =>
  !hasRedirection && separator !== "|" && !words.some(substitutes);

/** The variables that it changes; undefined where it can do anything else. */
function changedBy({ words }: SimpleCommand): string[] | undefined {
  const [program, ...rest] = words as readonly [ByteString, ...ByteString[]];
  if (unchanging.has(program) || isPlainBuiltin(words)) return [];
  if (program === "cd" && rest.length <= 1) return [];
  const names =
    program === "export" && rest.length > 0
      ? rest.map((word) => exportPattern.exec(word)?.[1])
      : words.map((word) => assignmentPattern.exec(word)?.[1]);
  const isCertain = names.every((name) => name !== undefined && !specialNames.test(name));
  return isCertain ? (names as string[]) : undefined;
}
