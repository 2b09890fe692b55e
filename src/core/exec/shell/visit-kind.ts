// Some commands are over so soon, and leave so little behind, that the shell which waits can run them and wait on: they
// start no process, open nothing, and cannot end, redefine or reconfigure the shell. They are told by their text, and
// by the state that the shell is in; whatever is not certain gets a shell of its own.
import type { ByteString } from "./byte-string.ts";
import type { CommandFeed } from "./dialect.ts";
import { type SimpleCommand, simpleCommands } from "./simple-commands.ts";

/** Whether the shell is like it was before, but for its directory, or is to be asked for its state. */
export type VisitKind = "unchanging" | "changing";

const unchanging = new Set([":", "true", "false", "echo", "pwd"]);

const assignmentPattern = /^([A-Za-z_]\w*)\+?=/;
const exportPattern = /^([A-Za-z_]\w*)(?:=|$)/;

/** Variables that bash acts upon when they are set, that cannot be set, or that are the machinery's. */
const specialNames =
  /^(?:BASH\w*|CDPATH|CHILD_MAX|COMP_\w*|COPROC|DIRSTACK|ENV|EPOCH\w*|EUID|EXECIGNORE|FUNCNAME|FUNCNEST|GLOBIGNORE|GROUPS|HIST\w*|HOSTFILE|HOSTNAME|IFS|IGNOREEOF|LANG|LANGUAGE|LC_\w*|LINENO|MAIL\w*|OLDPWD|OPT\w+|PIPESTATUS|POSIX\w*|PPID|PWD|RANDOM|READLINE\w*|SECONDS|SHELLOPTS|SHLVL|SRANDOM|TERM|TEXTDOMAIN\w*|TIMEFORMAT|TRL_\w*|TZ|UID|_|__trl\w*|ignoreeof)$/;

/** They are not the same in a shell that has run something before, or is not told the command's id. */
const toldFromFresh = /\$\{?(?:_\b|BASH_|FUNCNAME|LINENO|RANDOM|SECONDS|TRL_)/;

/** They are another every time: what was assigned from them cannot be done again, should the shell be lost. */
const everNew = /\$\{?(?:BASHPID|EPOCH|PPID|SRANDOM)/;

/** Options (but for what functions are read with), aliases, attributes and functions with which these commands may do anything. */
const unusualState =
  /^(?:shopt -s (?!extglob\n__trl_define )|shopt -u (?!expand_aliases$)|(?:builtin )?set |builtin pushd |declare -\w*[rni]\w* (?!OPTIND=)|alias )|(?:^|['\s])(?::|true|false|echo|pwd|cd|export) \(\)/m;

/** Undefined where it is to have a shell of its own. */
export function visitKind({ command, state, ...feed }: CommandFeed): VisitKind | undefined {
  if (feed.env.length > 0 || feed.hasStdin || feed.place !== "here" || feed.mayImportFunctions)
    return undefined;
  const commands = simpleCommands(command);
  if (!commands || !isWellFormed(commands) || toldFromFresh.test(command)) return undefined;
  const kinds = commands.map(kindOf);
  if (kinds.includes(undefined) || state.lateScript.includes("set ") || unusualState.test(state.script))
    return undefined;
  if (!kinds.includes("changing")) return "unchanging";
  return everNew.test(command) ? undefined : "changing";
}

/** Without errors of syntax, and without pipes: those start processes. */
function isWellFormed(commands: readonly SimpleCommand[]): boolean {
  if (commands.length === 0) return false;
  return commands.every(
    ({ words, hasRedirection, separator }, at) =>
      words.length > 0 &&
      !hasRedirection &&
      separator !== "|" &&
      (at < commands.length - 1 || !/[&|]/.test(separator)),
  );
}

function kindOf({ words }: SimpleCommand): VisitKind | undefined {
  const [program, ...rest] = words as readonly [ByteString, ...ByteString[]];
  if (unchanging.has(program)) return "unchanging";
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
