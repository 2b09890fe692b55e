// Some commands are over so soon, and leave so little behind, that the shell which waits can run them and wait on: they
// start no process, open nothing, and cannot end, redefine or reconfigure the shell. They are told by their text, and
// by the state that the shell is in; whatever is not certain gets a shell of its own.
import type { ByteString } from "./byte-string.ts";
import type { CommandFeed } from "./dialect.ts";
import { isPlainBuiltin } from "./plain-builtins.ts";
import { type SimpleCommand, simpleCommands } from "./simple-commands.ts";
import { assignmentPattern, specialNames } from "./variable-names.ts";

/** Whether the shell is like it was before, but for its directory, or is to be asked for its state. */
export type VisitKind = "unchanging" | "changing";

const unchanging = new Set([":", "true", "false", "echo", "pwd"]);

const exportPattern = /^([A-Za-z_]\w*)(?:=|$)/;

/** They are not the same in a shell that has run something before, or is not told the command's id. */
const toldFromFresh = /\$\{?(?:_\b|BASH_|FUNCNAME|LINENO|RANDOM|SECONDS|TRL_)/;

/** They are another every time: what was assigned from them cannot be done again, should the shell be lost. */
const everNew = /\$\{?(?:BASHPID|EPOCH|PPID|SRANDOM)/;

/** Options (but for what functions are read with), aliases, attributes and functions with which these commands may do anything. */
const unusualState =
  /^(?:shopt -s (?!extglob\n__trl_define )|shopt -u (?!expand_aliases$)|(?:builtin )?set |builtin pushd |declare -(?=\w*[rni])\w* (?!OPTIND=)|alias )|(?:^|['\s])(?::|\[|true|false|echo|printf|pwd|test|cd|export) \(\)/m;

/** Undefined where it is to have a shell of its own. */
export function visitKind({ command, state, ...feed }: CommandFeed): VisitKind | undefined {
  if (feed.env.length > 0 || feed.hasStdin || feed.place !== "here" || feed.mayImportFunctions)
    return undefined;
  const kind = kindOfList(command) ?? kindOfLoop(command);
  if (!kind || toldFromFresh.test(command)) return undefined;
  if (state.lateScript.includes("set ") || unusualState.test(state.script)) return undefined;
  return kind === "changing" && everNew.test(command) ? undefined : kind;
}

function kindOfList(text: ByteString): VisitKind | undefined {
  const commands = simpleCommands(text);
  if (!commands || !isWellFormed(commands)) return undefined;
  const kinds = commands.map(kindOf);
  if (kinds.includes(undefined)) return undefined;
  return kinds.includes("changing") ? "changing" : "unchanging";
}

// Each is found in one pass over the text. A single pattern for the whole loop would try all combinations of them.
const loopHead = /^[ \t\n]*for[ \t]+([A-Za-z_]\w*)[ \t]+in(?=[ \t])/;
const loopDo = /(?<=[ \t\n;])do[ \t\n]/;
const loopDone = /(?<=[ \t\n;])done[ \t]*;?[ \t\n]*$/;
const lastBlanks = /(?<![ \t\n])[ \t\n]*$/;

/**
 * A loop over words, of which there is an end, around such a list. Where a quoted "do" or "done" was taken for the word,
 * its quote is not closed in the words or in the list.
 */
function kindOfLoop(text: ByteString): VisitKind | undefined {
  const [head, name] = loopHead.exec(text) ?? [];
  if (head === undefined || specialNames.test(name!)) return undefined;
  const rest = text.slice(head.length);
  const doAt = rest.search(loopDo);
  const bodyAt = doAt + "do ".length;
  const doneAt = rest.search(loopDone);
  if (doAt < 0 || doneAt < bodyAt) return undefined;
  const over = endedList(rest.slice(0, doAt));
  const body = endedList(rest.slice(bodyAt, doneAt));
  if (over === undefined || body === undefined || kindOfList(body) === undefined) return undefined;
  const commands = simpleCommands(over);
  const isPlain = commands?.length === 1 && isWellFormed(commands);
  return isPlain ? "changing" : undefined;
}

/** The list with the one separator that ends it; undefined where none does. */
function endedList(text: ByteString): ByteString | undefined {
  const end = text.search(lastBlanks);
  if (text[end - 1] === ";") return text.slice(0, end);
  return text.includes("\n", end) ? `${text.slice(0, end)}\n` : undefined;
}

/** Without errors of syntax, and without pipes and substitutions: those start processes. */
function isWellFormed(commands: readonly SimpleCommand[]): boolean {
  if (commands.length === 0) return false;
  return commands.every(
    ({ words, hasRedirection, separator }, at) =>
      words.length > 0 &&
      !words.some((word) => word.includes("$(")) &&
      !hasRedirection &&
      separator !== "|" &&
      (at < commands.length - 1 || !/[&|]/.test(separator)),
  );
}

function kindOf({ words }: SimpleCommand): VisitKind | undefined {
  const [program, ...rest] = words as readonly [ByteString, ...ByteString[]];
  if (unchanging.has(program) || isPlainBuiltin(words)) return "unchanging";
  if (program === "cd" && rest.length <= 1) return "unchanging";
  const isChange =
    (program === "export" && rest.length > 0 && rest.every((word) => sets(word, exportPattern))) ||
    words.every((word) => sets(word, assignmentPattern));
  return isChange ? "changing" : undefined;
}

function sets(word: ByteString, pattern: RegExp): boolean {
  const name = pattern.exec(word)?.[1];
  return name !== undefined && !specialNames.test(name);
}
