// Most of what an agent runs (`ls -la`, `git status 2>&1 | head`, `npm test && echo done`) cannot change the shell
// that runs it. Such a command is recognised by its text, and the shell is then not asked for its state: to list
// it costs as much as a small command itself. Whatever is not certain counts as able to change anything.
import type { ByteString } from "./byte-string.ts";
import type { CommandFeed } from "./dialect.ts";

/** Builtins and words of the language, in bash and in its smaller relatives, but for those that change nothing. */
const changing = new Set(
  `. alias bg bind break builtin caller cd chdir command compgen complete compopt continue declare dirs disown
  enable eval exec exit export fc fg getopts hash help history jobs let local logout mapfile popd printf pushd read
  readarray readonly return set shift shopt source suspend test times trap type typeset ulimit umask unalias unset wait
  if then else elif fi case esac for select while until do done in function time coproc`.split(/\s+/),
);

/** A word without anything that assigns, runs or defines: expansions are of plain names only. */
const wordPattern =
  /(?:[\w./,:@%+=^~*?[\]-]|'[^']*'|"(?:[^"$`\\]|\$\w+|\$\{\w+\})*"|\$[A-Za-z_]\w*|\$\{[A-Za-z_]\w*\})+/y;
const redirectionPattern = /\d?(?:>>|>|<)&?(?![<>&(|])/y;
const separatorPattern = /&&|\|\||\||;|\n/y;
const blankPattern = /[ \t]+/y;
/** Not a number: that may be the descriptor of a redirection, with the command behind it. */
const programPattern = /^(?:(?!\d+$)[\w./+-]+|:)$/;

/** To read a reference may be to compute the index of an array, and that may assign. */
const referencePattern = /^declare -\w*n/m;

/** Whether the command leaves a shell in that state as it is, whatever its programs do. */
export function isHarmless({ command, state, mayImportFunctions }: CommandFeed): boolean {
  const names = mayImportFunctions ? undefined : programsOf(command);
  if (!names || names.some((name) => changing.has(name))) return false;
  // Options that change what words mean (keyword, posix), or run something for each command (xtrace and its PS4).
  if (state.lateScript.includes("set ")) return false;
  const known = state.script + (state.aliasScript ?? "");
  if (command.includes("$") && referencePattern.test(known)) return false;
  return !names.some((name) => mayBeDefined(name, known));
}

/** The state is asked as text: a name that appears in it anywhere may be that of an alias or a function. */
const mayBeDefined = (name: string, known: ByteString): boolean =>
  name === ":" ? /: ?\(\)|alias :/.test(known) : known.includes(name);

/** The first words of its simple commands; undefined where it is more than such, joined by pipes and lists. */
function programsOf(command: ByteString): string[] | undefined {
  const programs: string[] = [];
  let expects: "program" | "argument" | "file" = "program";
  for (let at = 0; at < command.length; ) {
    const take = (pattern: RegExp): string | undefined => {
      pattern.lastIndex = at;
      const text = pattern.exec(command)?.[0];
      at += text?.length ?? 0;
      return text;
    };
    if (take(blankPattern)) continue;
    if (expects !== "program" && take(redirectionPattern)) {
      expects = "file";
      continue;
    }
    if (take(separatorPattern)) {
      if (expects === "file") return undefined;
      expects = "program";
      continue;
    }
    const word = take(wordPattern);
    if (word === undefined) return undefined;
    if (expects === "program") {
      if (!programPattern.test(word)) return undefined;
      programs.push(word);
    }
    expects = "argument";
  }
  return expects === "file" ? undefined : programs;
}
