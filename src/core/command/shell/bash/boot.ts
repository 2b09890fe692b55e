// What bash reads before the user's first word: how it waits, takes visits, and reports at its end.
import { constants } from "node:os";
import { type ByteString, fromText, quote } from "../../../process/byte-string.ts";
import { inPlaceWords, type ShellBoot } from "../dialect.ts";
import * as parts from "../script-parts.ts";

export const commandFile = "bash"; // messages begin with the script's name: ".../bash: line 1: ..."

/** They are another for every command. Not reported, two reports of the same state are the same. */
const everChanging = "BASH_COMMAND BASHPID LINENO HISTCMD TRL_COMMAND_ID __trl_env";

/** What reads a file, whatever function the session has by the name of `.`. */
export const source = "builtin .";

/** The braces hide what a DEBUG trap or `set -x` of the user would print about it. */
const hook = '{ __trl_report "$?" "$@"; } >/dev/null 2>&1';
/** Where the braces are aliases, which bash expands as it reads a trap. */
const bareHook = '\\__trl_report "$?" "$@" >/dev/null 2>&1';

/** All but XFSZ, by number: bash finds them sooner than by name. The C library keeps the two between for itself. */
const signals = Array.from({ length: 64 }, (_, before) => before + 1)
  .filter((signal) => signal !== constants.signals.SIGXFSZ && signal !== 32 && signal !== 33)
  .join(" ");

/**
 * What a handler of the user's prints would be in the report, and what it changes would be there by half. They are
 * ignored, as the signal would end the shell otherwise. That on CHLD becomes a blank: with it ignored the status of a
 * child would be lost, and bash crashes where a child has ended for which it has not run the handler yet. Hardly any
 * shell has handlers: they are listed where nobody reads, ahead of the report, and once more if that was not nothing.
 * The line that ends one names its signal; where a line inside of one looks like that, its quote is an escaped one.
 */
const silenceHandlers = (dir: string): ByteString => `builtin trap -p ${signals}
if [[ -s ${parts.fileWord(dir, "report")} ]]; then
builtin trap -p ${signals} >|${parts.fileWord(dir, "handlers")}
while IFS= builtin read -r __trl_line; do
case $__trl_line in
*"'\\\\'' SIG\${__trl_line##*"' SIG"}") ;;
*"' SIGCHLD") builtin trap ' ' CHLD;;
*"' SIG"*) builtin trap '' "SIG\${__trl_line##*"' SIG"}";;
esac
done <${parts.fileWord(dir, "handlers")}
fi
`;

/** For a handler of the user's on EXIT, which comes behind. It may need aliases; what is listed must not meet any. */
const restoreHandlers = (dir: string): ByteString => `if [[ -s ${parts.fileWord(dir, "handlers")} ]]; then
builtin shopt -q expand_aliases; __trl_i=$?
builtin shopt -u expand_aliases
builtin . ${parts.fileWord(dir, "handlers")}
(( __trl_i )) || builtin shopt -s expand_aliases
fi
`;

/**
 * The report has what a command was given for itself alone as it was before it. A handler of the user's on EXIT, which
 * comes behind, is to have it still: there the report is made by a fork, which calls once more, whatever FUNCNEST
 * allows. A function may have its own by that name above the given one. What cannot be unset, as the command has made it
 * constant, is told once more, as it was. A child that is killed before it becomes its program comes here as well, and
 * goes without a word: the report is of the shell. Never two substitutions in one word: a handler on CHLD between them makes bash
 * lose its way.
 */
const reporting = (dir: string): ByteString => `__trl_report() {
if [[ -z \${__trl_forked-} ]]; then
[[ \${BASHPID-$$} == "$$" ]] || builtin return "$1"
[[ -z \${__trl_done-} ]] || builtin return "$1"
__trl_done=1
__trl_set=$SHELLOPTS __trl_shopt=\${BASHOPTS-}
if [[ -n \${__trl_hides_builtin-} ]]; then
[[ :$SHELLOPTS: == *:posix:* ]] || POSIXLY_CORRECT=
unset -f builtin
fi
builtin set +aeuvxfkTE
if [[ :$SHELLOPTS: == *:posix:* ]]; then builtin set +o posix; builtin unset -v POSIXLY_CORRECT; fi
[[ -z \${__trl_wraps_trap-} ]] || builtin unset -f trap
builtin trap '' XFSZ
[[ :$__trl_set: != *:@(func|err)trace:* ]] || builtin trap - DEBUG ERR RETURN
[[ -z \${__trl_stacks-} ]] || __trl_stack=("\${DIRSTACK[@]}")
fi
{
if [[ -z \${__trl_forked-} ]]; then
${silenceHandlers(dir)}if [[ -n \${__trl_env+x} && -n \${__trl_wraps_trap-} ]]; then
( __trl_forked=1; (( \${FUNCNEST:-0} < 1 || FUNCNEST > 9 )) || { __trl_nest=$FUNCNEST FUNCNEST=; }; __trl_report "$@" )
${restoreHandlers(dir)}__trl_report() { builtin return "$1"; }
builtin return "$1"
fi
fi
[[ -z \${__trl_nest-} ]] || FUNCNEST=$__trl_nest
builtin printf '\\0'
builtin pwd
builtin printf '\\0%s\\0%s\\0%s\\0%s\\0' "\${OLDPWD-}" "$__trl_set" "$__trl_shopt0" "$__trl_shopt"
[[ -n $__trl_shopt ]] || builtin shopt -p
if [[ -n \${__trl_env+x} ]]; then
builtin shopt -u expand_aliases
for __trl_name in "\${__trl_env[@]}"; do
for ((__trl_i = 0; __trl_i < 100; __trl_i++)); do
builtin unset -n "$__trl_name" || [[ $BASH_VERSION == [1-3].* || $BASH_VERSION == 4.[0-2].* ]] || { __trl_saved=1; builtin break; }
builtin unset -v "$__trl_name" || { __trl_saved=1; builtin break; }
[[ -n \${!__trl_name+x} ]] || builtin break
done
done
[[ -z \${__trl_functions+x} ]] || builtin unset -f "\${__trl_functions[@]}"
if builtin declare -F declare >/dev/null; then
__trl_declare=$(builtin declare -f declare)$'\\n'
__trl_declare+="builtin $(builtin declare -pF declare)"
builtin unset -f declare
fi
builtin . ${parts.fileWord(dir, "savedEnv")}
[[ -z \${__trl_declare-} ]] || builtin eval "$__trl_declare" >/dev/null
fi
builtin unset -v ${everChanging}
builtin printf '\\0'
builtin declare -p
[[ -z \${__trl_saved-} || ! -s ${parts.fileWord(dir, "savedEnv")} ]] || builtin printf '%s\\n' "$(<${parts.fileWord(dir, "savedEnv")})"
builtin printf '\\0'
builtin alias -p
builtin umask -p
if (( $# > 1 && \${#FUNCNAME[@]} <= 2 + \${__trl_forked:-0} )); then builtin printf 'builtin set --'; builtin printf ' %q' "\${@:2}"; builtin printf '\\n'; fi
for ((__trl_i = \${#__trl_stack[@]} - 1; __trl_i > 0; __trl_i--)); do
builtin printf 'builtin pushd -n -- %q\\n' "\${__trl_stack[__trl_i]}"
done
builtin printf '\\0'
builtin unset -f __trl_report
builtin declare -f
builtin printf '\\0'
builtin declare -Fx
if [[ -n \${__trl_lines-} && $BASH_VERSION != [1-3].* ]]; then
builtin declare -F >|${parts.fileWord(dir, "functions")}
builtin mapfile -t __trl_names <${parts.fileWord(dir, "functions")}
builtin shopt -s extdebug
builtin declare -F "\${__trl_names[@]##* }"
builtin shopt -u extdebug
fi
builtin printf '\\0whole'
} >|${parts.fileWord(dir, "report")}
if [[ -n \${__trl_wraps_trap-} && -z \${__trl_forked-} ]]; then
${restoreHandlers(dir)}fi
__trl_report() { builtin return "$1"; }
builtin return "$1"
}
trap '${hook}' EXIT
`;

export const bootScript = (
  dir: string,
  { isLean, runsInPlace }: ShellBoot = {},
): ByteString => `unset BASH_ENV
__trl_shopt0=\${BASHOPTS-}
${isLean ? "" : reporting(dir)}${parts.awaitState}${runsInPlace ? receiveInPlace(dir) : ""}${parts.awaitCommand(source)}`;

/** In place of the hook, where the command can have changed no more than the directory and some variables. */
export const reportPart = (dir: string, variables: readonly string[]): ByteString => {
  const values = variables.length > 0 ? `builtin declare -p ${variables.join(" ")}; ` : "";
  const fields = `builtin printf "\\0"; builtin pwd; builtin printf "\\0%s\\0" "\${OLDPWD-}"; ${values}builtin printf "\\0part"`;
  const report = `builtin trap "" XFSZ; { ${fields}; } >|${parts.fileWord(dir, "report")}`;
  return `builtin trap ${quote(`[[ \${BASHPID-$$} != "$$" ]] || { ${report}; } 2>/dev/null`)} EXIT\n`;
};

const giveUp = parts.giveUp("builtin exit");

/** Longer than any shell waits: without it, it would be the user's TMOUT. */
const patienceS = 1_000_000;

/**
 * Each in-place run is one byte on descriptor 4; its command is in the file that a later script is read from, so names
 * and line numbers are those of a script. The shell writes the exit code and the directory to descriptor 6, and then the
 * variables that the command may have changed. bash before 4.1 cannot read one byte with any IFS, and gets no in-place
 * runs. `cd` sets OLDPWD again where it was unset, but does not export it as every new shell does.
 */
const receiveInPlace = (dir: string): ByteString => `case $BASH_VERSION in
[1-3].*|4.0.*) builtin read -r -n 1 -t ${patienceS} -u 4 __trl_visit;;
*) while [[ 1 ]]; do
builtin read -r -N 1 -t ${patienceS} -u 4 __trl_visit || ${giveUp}
[[ $__trl_visit != ${inPlaceWords.none} ]] || builtin break
[[ $__trl_visit != ${inPlaceWords.runAndList} ]] || IFS= builtin read -r -t ${patienceS} -u 4 __trl_list || ${giveUp}
[[ -z $__trl_astray ]] || { __trl_old=\${OLDPWD-}; builtin cd -- "$__trl_astray" && __trl_astray= && OLDPWD=$__trl_old; } || ${giveUp}
builtin . ${quote(fromText(`${dir}/${commandFile}`))}
builtin printf '%d\\0%s\\0%s\\0' "$?" "$PWD" "\${OLDPWD-}" >&6
[[ $__trl_visit != ${inPlaceWords.runAndList} ]] || { builtin eval "$__trl_list"; builtin printf '\\0'; } >&6 2>/dev/null
[[ -z \${OLDPWD-} ]] || builtin export OLDPWD
done;;
esac
`;

/**
 * For a command that may list functions or variables: the report's function waits in a file, and the hook carries what it
 * needs. It is not so for every command, as bash then reads that file while the end of the command is awaited. Aliases
 * would change how it is read. The text of a trap is shown by `set -v`, what it runs is not.
 */
export function hideReport(dir: string): ByteString {
  const file = parts.fileWord(dir, "hook");
  const aliasesAgain = "[[ :$__trl_aliases: != *:expand_aliases:* ]] || builtin shopt -s expand_aliases";
  const carried = ["shopt0", "lines", "stacks"]
    .map((name) => ` __trl_${name}='"\${__trl_${name}-}"'`)
    .join("");
  const before = `'{ __trl_i=$? __trl_aliases=$BASHOPTS${carried}; \\builtin shopt -u expand_aliases; \\builtin . '`;
  const after = `'; \\__trl_report "$__trl_i" "$@"; } >/dev/null 2>&1'`;
  return `if [[ -n \${BASHOPTS-} ]]; then
{ builtin declare -f __trl_report; builtin printf '%s\\n' '${aliasesAgain}'; } >|${file}
builtin trap -- ${before}${quote(file)}${after} EXIT
builtin unset -v __trl_shopt0 __trl_lines __trl_stacks __trl_visit __trl_list __trl_astray
builtin unset -f __trl_report
fi
`;
}

export const trapBareHook = `builtin trap '${bareHook}' EXIT\n`;

/**
 * With an EXIT trap of the user the hook goes first: an `exit` in the user's handler would end all. A list of the
 * traps leaves the hook out. `[[ =~ ]]` would change BASH_REMATCH.
 */
export const trapWrapper = (isBare: boolean): ByteString => {
  const own = isBare ? bareHook : hook;
  return `__trl_wraps_trap=1
trap() {
if [[ $# == 0 || $1 == -p ]]; then
local __trl_list=$(builtin trap "$@") __trl_hook='${own}'
__trl_list=\${__trl_list//"$__trl_hook"$'\\n'/}
__trl_list=\${__trl_list/"trap -- '$__trl_hook' EXIT"}
[[ -z $__trl_list ]] || builtin printf '%s\\n' "\${__trl_list#$'\\n'}"; builtin return 0
fi
builtin trap "$@" || builtin return
[[ $1 != -- ]] || builtin shift
local __trl_name __trl_is_exit=; for __trl_name in "\${@:$(( $# == 1 ? 1 : 2 ))}"; do
case $__trl_name in 0|[Ee][Xx][Ii][Tt]|[Ss][Ii][Gg][Ee][Xx][Ii][Tt]) __trl_is_exit=1;; esac; done
[[ $BASH_SUBSHELL == 0 && -n $__trl_is_exit ]] || builtin return 0
if [[ $1 == - || $# == 1 ]]; then builtin trap '${own}' EXIT; else builtin trap '${own}'$'\\n'"$1" EXIT; fi
}
`;
};
