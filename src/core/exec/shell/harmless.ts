// Most of what an agent runs (`ls -la`, `git status 2>&1 | head`, `npm test && echo done`) cannot change the shell
// that runs it. Such a command is recognised by its text, and the shell is then not asked for its state: to list
// it costs as much as a small command itself. Whatever is not certain counts as able to change anything.
import type { ByteString } from "./byte-string.ts";
import type { CommandFeed } from "./dialect.ts";
import { isPlainBuiltin } from "./plain-builtins.ts";
import { type SimpleCommand, simpleCommands } from "./simple-commands.ts";

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

/** Whether the command leaves a shell in that state as it is, whatever its programs do. */
export const isHarmless = (feed: CommandFeed): boolean => changeOf(feed) === "nothing";

/** What of the shell the command can change. That `cd` changes the directory alone is certain for one word at most. */
export function changeOf({
  command,
  state,
  mayImportFunctions,
}: CommandFeed): "nothing" | "directory" | "anything" {
  const commands = mayImportFunctions ? undefined : simpleCommands(command);
  const kinds = commands?.map(kindOf);
  if (!kinds || kinds.includes("changing")) return "anything";
  // Options that change what words mean (keyword, posix), or run something for each command (xtrace and its PS4).
  if (state.lateScript.includes("set ")) return "anything";
  const known = state.script + (state.aliasScript ?? "");
  if (command.includes("$") && referencePattern.test(known)) return "anything";
  const names = new Set(commands!.flatMap(({ words }) => words.slice(0, 1)));
  if (names.size > mostNames || isAnyDefined([...names], known)) return "anything";
  return kinds.includes("moving") ? "directory" : "nothing";
}

function kindOf({ words }: SimpleCommand): "harmless" | "moving" | "changing" {
  const [name] = words;
  if (name === undefined || isPlainBuiltin(words)) return "harmless";
  if (name === "cd" && words.length <= 2) return "moving";
  return programPattern.test(name) && !changing.has(name) ? "harmless" : "changing";
}

/** Each is looked for in the whole state, and that may be long: a command of more programs is no small one. */
const mostNames = 100;

/** The state is asked as text: a function or an alias of the name looks so in it, and much else may, too. */
function isAnyDefined(names: readonly ByteString[], known: ByteString): boolean {
  const mentioned = names.filter((name) => known.includes(name));
  if (mentioned.length === 0) return false;
  const escaped = mentioned.map((name) => name.replaceAll(/[.+[]/g, "\\$&"));
  return new RegExp(`(?:^|[\\s'])(?:${escaped.join("|")})(?: ?\\(\\)|=)`, "m").test(known);
}
