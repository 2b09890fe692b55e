// Finds out from a command's text and the shell's state whether an idle shell can run it and wait on: such a command starts no
// process, opens nothing, and cannot end, redefine or reconfigure the shell. Any other command gets a shell of its own.
import type { CommandFeed } from "../../core/command/shell/dialect.ts";
import type { ByteString } from "../../core/process/byte-string.ts";
import { isWellFormed, loopIn } from "../analysis/loops.ts";
import { isPlainBuiltin } from "../analysis/plain-builtins.ts";
import { type SimpleCommand, simpleCommands } from "../analysis/simple-commands.ts";
import { hasRepeats } from "../analysis/state-changes.ts";
import { assignmentPattern, specialNames } from "../analysis/variable-names.ts";

/** What an in-place run can change besides the directory. */
export interface InPlaceKind {
  variables: readonly string[];
}

const unchanging = new Set([":", "true", "false", "echo", "pwd"]);

const exportPattern = /^([A-Za-z_]\w*)(?:=|$)/;

/** Variables that differ in a shell that ran a command before, or that has no command id. */
const differsFromFresh = /\$\{?(?:_\b|BASH_|FUNCNAME|LINENO|RANDOM|SECONDS|TRL_)/;

/** Options (except those around function definitions), aliases, attributes and functions that change what these commands do. */
const unusualState =
  /^(?:shopt -s (?!extglob\n__trl_define )|shopt -u (?!expand_aliases$)|(?:builtin )?set |builtin pushd |declare -(?=\w*[rni])\w* (?!OPTIND=)|alias )|(?:^|['\s])(?::|\[|true|false|echo|printf|pwd|test|cd|export) \(\)/m;

/** The list of variables goes through a pipe, and the daemon parses it in one turn of its event loop. */
const stateMaxChars = 65_536;
const namesMaxChars = 2048;

/** Undefined where the command needs a shell of its own. */
export function inPlaceKind({ command, state, ...feed }: CommandFeed): InPlaceKind | undefined {
  if (feed.env.length > 0 || feed.hasStdin || feed.place !== "here" || feed.mayImportFunctions)
    return undefined;
  if (state.script.length > stateMaxChars || command.length > stateMaxChars) return undefined;
  const variables = changedByList(simpleCommands(command)) ?? changedByLoop(command);
  if (!variables || differsFromFresh.test(command)) return undefined;
  if (state.lateScript.includes("set ") || unusualState.test(state.script) || hasRepeats(state))
    return undefined;
  // One line in one write, which never blocks.
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

/** No pipe and no substitution, which start processes, and no redirection, which opens files. */
const startsNothing = ({ words, hasRedirection, separator }: SimpleCommand): boolean =>
  !hasRedirection && separator !== "|" && !words.some(substitutes);

/** The variables that it changes; undefined where it can change anything else. */
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
