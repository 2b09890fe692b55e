// bash runs the command as a script file, so that `set -x`, ERR traps, line numbers and `return` are those of
// a script (an `eval` would show as "++" and fire ERR twice). The machinery is the startup file (BASH_ENV),
// which is over before the script begins, and a hook on EXIT. It leans on `builtin`, `[[` and, where it must,
// on posix mode, in which special builtins win over functions: the user may have defined any name.
import { isInherited, parseRecords } from "./bash-records.ts";
import { type ByteString, fromText } from "./byte-string.ts";
import type { CommandFeed, ReportContext, ReportedState, ShellDialect, ShellState } from "./dialect.ts";
import { isHarmless } from "./harmless.ts";
import * as parts from "./script-parts.ts";

const bootFile = "boot";
const commandFile = "bash"; // messages begin with the script's name: ".../bash: line 1: ..."

/** Every bash sets these itself; where the state does not mention one, the user has unset it. */
const bornWithShell = "PATH HOSTNAME HOSTTYPE IFS MACHTYPE OPTERR OSTYPE PS4 SHELL TERM SHLVL".split(" ");

/** They are another for every command. Not reported, two reports of the same state are the same. */
const everChanging = "BASH_COMMAND BASHPID LINENO HISTCMD TRL_COMMAND_ID __trl_env";

const defaultOptions = ["braceexpand", "hashall", "interactive-comments"];
/** A session that kept one of the first two could never run a command again. */
const neverKept = ["noexec", "onecmd", "privileged", "restricted", "monitor"];
/** The first is for the last moment; the second would start a debugger in every new shell. */
const neverKeptShopts = ["expand_aliases", "extdebug"];
const late = ["errexit", "xtrace", "verbose", "posix", "allexport", "keyword"];

/** It hides what a DEBUG trap or `set -x` of the user would print about it. */
const hook = '{ __trl_report "$?" "$@"; } >/dev/null 2>&1';

const bootScript = (dir: string): ByteString => `unset BASH_ENV
__trl_shopt0=\${BASHOPTS-}
__trl_report() {
[[ -z \${__trl_done-} ]] || builtin return "$1"
__trl_done=1
__trl_set=$SHELLOPTS __trl_shopt=\${BASHOPTS-}
if [[ -n \${__trl_hides_builtin-} ]]; then
[[ :$SHELLOPTS: == *:posix:* ]] || POSIXLY_CORRECT=
unset -f builtin
fi
builtin set +euvxfkTE
if [[ :$SHELLOPTS: == *:posix:* ]]; then builtin set +o posix; builtin unset -v POSIXLY_CORRECT; fi
[[ -z \${__trl_wraps_trap-} ]] || builtin unset -f trap
builtin trap '' XFSZ
[[ :$__trl_set: != *:@(func|err)trace:* ]] || builtin trap - DEBUG ERR RETURN
[[ -z \${__trl_stacks-} ]] || __trl_stack=("\${DIRSTACK[@]}")
{
builtin pwd
builtin printf '\\0%s\\0%s\\0%s\\0%s\\0' "\${OLDPWD-}" "$__trl_set" "$__trl_shopt0" "$__trl_shopt"
[[ -n $__trl_shopt ]] || builtin shopt -p
if [[ -n \${__trl_env+x} ]]; then builtin unset -v "\${__trl_env[@]}"; builtin . ${parts.fileWord(dir, "savedEnv")}; fi
builtin unset -v ${everChanging}
builtin printf '\\0'
builtin declare -p
builtin printf '\\0'
builtin alias -p
builtin umask -p
if (( $# > 1 && \${#FUNCNAME[@]} <= 2 )); then builtin printf 'builtin set --'; builtin printf ' %q' "\${@:2}"; builtin printf '\\n'; fi
for ((__trl_i = \${#__trl_stack[@]} - 1; __trl_i > 0; __trl_i--)); do
builtin printf 'builtin pushd -n -- %q\\n' "\${__trl_stack[__trl_i]}"
done
builtin printf '\\0'
builtin unset -f __trl_report
builtin declare -f
builtin printf '\\0'
builtin declare -Fx
builtin printf '\\0end'
} >|${parts.fileWord(dir, "report")}
__trl_report() { builtin return "$1"; }
builtin return "$1"
}
trap '${hook}' EXIT
${parts.awaitBoth}`;

/**
 * With an EXIT trap of the user the hook goes first: an `exit` in the user's handler would end all. A list of the
 * traps leaves the hook out.
 */
const trapWrapper = `__trl_wraps_trap=1
trap() {
if [[ $# == 0 || $1 == -p ]]; then
local __trl_list=$(builtin trap "$@") __trl_hook='${hook}'
__trl_list=\${__trl_list//"$__trl_hook"$'\\n'/}
__trl_list=\${__trl_list/"trap -- '$__trl_hook' EXIT"}
[[ -z $__trl_list ]] || builtin printf '%s\\n' "\${__trl_list#$'\\n'}"; builtin return 0
fi
builtin trap "$@" || builtin return
[[ $1 != -- ]] || builtin shift
local __trl_name __trl_is_exit=; for __trl_name in "\${@:$(( $# == 1 ? 1 : 2 ))}"; do
[[ $__trl_name != 0 && ! $__trl_name =~ ^([Ss][Ii][Gg])?[Ee][Xx][Ii][Tt]$ ]] || __trl_is_exit=1; done
[[ $BASH_SUBSHELL == 0 && -n $__trl_is_exit ]] || builtin return 0
if [[ $1 == - || $# == 1 ]]; then builtin trap '${hook}' EXIT; else builtin trap '${hook}'$'\\n'"$1" EXIT; fi
}
`;

/** Aliases work, as in a terminal, from the user's first line on and not before: the machinery knows none. */
const aliasesOn = "builtin shopt -s expand_aliases\n";

export const bash: ShellDialect = {
  commandFile,
  bootFile,

  launch: (shell, dir) => ({
    argv: [shell, `${dir}/${commandFile}`],
    env: { BASH_ENV: `${dir}/${bootFile}` },
  }),

  initialState(env) {
    const launchEnv = Object.fromEntries(Object.entries(env).filter(([name]) => !notInherited.test(name)));
    const functions = Object.entries(env).flatMap(([name, value]) => {
      const [, functionName] = /^BASH_FUNC_(.*)%%$/.exec(name) ?? [];
      if (!functionName) return [];
      return parts.defineFunctions(`${functionName} ${fromText(value)}\nexport -f ${functionName}`);
    });
    const startup = env["BASH_ENV"] === undefined ? "" : parts.exportLine("BASH_ENV", env["BASH_ENV"]);
    return { launchEnv, script: startup + functions.join(""), lateScript: aliasesOn };
  },

  bootScript,

  stateScript(state) {
    // With no alias there is nothing that could change the machinery's last lines.
    const aliases = state.lateScript === aliasesOn && !hasAliases(state) ? aliasesOn : "";
    return `${state.script}${parts.waitInDirectory(state, "builtin")}${aliases}`;
  },

  commandScript(feed, dir) {
    const changesNothing = isHarmless(feed);
    return {
      file: feed.command,
      prologue: prologue(feed, dir, changesNothing),
      isHarmless: changesNothing,
    };
  },

  readReport(report, context): ReportedState | undefined {
    const fields = parts.reportFields(report, 10);
    if (!fields) return undefined;
    const [pwd, oldpwd, set, shopt0, shopt, shoptLines, variables, misc, functions, exports] =
      fields as Fields;
    const shopts = parts.optionChanges(shopt0.split(":"), shopt.split(":"), neverKeptShopts);
    const options = parts.optionChanges(defaultOptions, set.split(":"), neverKept);
    const [lateOn, on] = partition(options.on, (name) => late.includes(name));
    const expandsAliases = /(?:^|:)expand_aliases(?:$|:)|^shopt -s expand_aliases$/m.test(
      shopt || shoptLines,
    );
    const { lines, exportedNames } = readVariables(variables, context);
    return {
      workingDir: parts.directoryAfter(pwd, context),
      previousDir: oldpwd === "" ? undefined : oldpwd,
      script:
        `${shoptLines}${list("shopt -s", shopts.on)}${list("shopt -u", shopts.off)}shopt -u expand_aliases\n` +
        `${lines}${misc}\n${list("builtin set", flags("-o", on))}${list("builtin set", flags("+o", options.off))}` +
        restoreFunctions(
          functions,
          exports,
          /(?:^|:)extglob(?:$|:)|^shopt -s extglob$/m.test(shopt || shoptLines),
        ),
      lateScript: (expandsAliases ? aliasesOn : "") + list("builtin set", flags("-o", lateOn)),
      exportedNames,
    };
  },
};

/** What must not reach the next shell through its environment: it is restored, or would change how bash starts. */
const notInherited = /^(?:BASH_ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|POSIXLY_CORRECT)$/;
/** Every bash has its own, and most of them compute it: restoring one would freeze it. */
const constant =
  /^(?:BASH|BASHOPTS|BASH_(?:ALIASES|ARGC|ARGV|ARGV0|CMDS|EXECUTION_STRING|LINENO|SOURCE|SUBSHELL|VERSINFO|VERSION)|DIRSTACK|EPOCHREALTIME|EPOCHSECONDS|BASH_MONOSECONDS|EUID|FUNCNAME|GROUPS|RANDOM|SECONDS|SRANDOM|PPID|SHELLOPTS|UID|PWD|OLDPWD|PIPESTATUS|_|__trl_.*)$/;

/** Last, so that none is in the way of the rest. A body may need extglob to be read, whatever the session has. */
function restoreFunctions(functions: ByteString, exports: ByteString, hasExtglob: boolean): ByteString {
  if (functions.trim() === "") return "";
  const exported = exports.replaceAll(/^declare /gm, "builtin declare ");
  const definitions = parts.defineFunctions(functions);
  return `shopt -s extglob\n${definitions}${exported}\n${hasExtglob ? "" : "builtin shopt -u extglob\n"}`;
}

const hasAliases = ({ script }: ShellState) => /^alias /m.test(script);

function readVariables(variables: ByteString, { launchEnv }: ReportContext) {
  const records = parseRecords(variables);
  if (!records) {
    const exported = variables.matchAll(/^declare -[a-zA-Z]*x[a-zA-Z]* (\w+)/gm);
    return { lines: `${variables}\n`, exportedNames: [...exported].map((match) => match[1]!) };
  }
  const names = new Set(records.map(({ name }) => name));
  const born = bornWithShell.filter((name) => !names.has(name));
  const told = records.filter((record) => !constant.test(record.name) && !isInherited(record, launchEnv));
  return {
    lines: parts.unsetLines(launchEnv, names) + list("unset", born) + told.map(({ text }) => text).join(""),
    exportedNames: records.filter(({ flags }) => flags.includes("x")).map(({ name }) => name),
  };
}

type Fields = [string, string, string, string, string, string, string, string, string, string];

function prologue(feed: CommandFeed, dir: string, changesNothing: boolean): ByteString {
  const { lastStatus, lateScript } = feed.state;
  // Only where it is asked for: a syntax error would otherwise end with this status instead of its own.
  const keepsStatus = lastStatus !== 0 && feed.command.includes("$?") && !lateScript.includes("errexit");
  return (
    closeDescriptors(feed) +
    parts.moveToDirectory(feed, dir, "builtin") +
    (changesNothing ? "" : saveEnv(feed, dir)) +
    parts.applyEnv(feed, "builtin") +
    (changesNothing ? "builtin trap - EXIT\n" : guardReport(feed)) +
    (lateScript === aliasesOn && !hasAliases(feed.state) ? "" : lateScript) +
    (keepsStatus ? `{ return ${lastStatus}; } 2>/dev/null\n` : "")
  );
}

/** What is given to the command alone is not the session's: the report has the old values. */
function saveEnv({ env }: CommandFeed, dir: string): ByteString {
  if (env.length === 0) return "";
  const names = env.map(([name]) => name).join(" ");
  return `__trl_env=(${names})\nbuiltin declare -p ${names} >|${parts.fileWord(dir, "savedEnv")} 2>/dev/null\n`;
}

const guardReport = (feed: CommandFeed): ByteString =>
  (parts.maySetExitTrap(feed) ? trapWrapper : "") +
  (mayHideBuiltin(feed) ? "__trl_hides_builtin=1\n" : "") +
  (mayUseStack(feed) ? "__trl_stacks=1\n" : "");

/** Asking for the stack is not cheap, and hardly anybody has one. */
const mayUseStack = ({ command, state }: CommandFeed) =>
  /\b(?:pushd|popd|dirs|DIRSTACK|source)\b|(?:^|[\s;&|({])\.\s/.test(command) ||
  /\bpushd\b/.test(state.script);

/** A function named `builtin` is the one thing that would hide everything else; it lasts for one command. */
const mayHideBuiltin = ({ command }: CommandFeed) =>
  /\bbuiltin\s*\(\s*\)|\bfunction\s+builtin\b/.test(command);

/**
 * `builtin exec` would undo it again, so that a function named `exec` is in the way; in posix mode it is not. But
 * that mode leaves an option behind, and is not entered without need.
 */
function closeDescriptors(feed: CommandFeed): ByteString {
  const exec = `exec ${parts.descriptors(feed)}\n`;
  if (!/^exec \(\)|'exec \(\)/m.test(feed.state.script)) return exec;
  const restore = "[[ $__trl_shopt == *inherit_errexit* ]] || builtin shopt -u inherit_errexit\n";
  return `__trl_shopt=$BASHOPTS\nPOSIXLY_CORRECT=\n${exec}unset POSIXLY_CORRECT\n${restore}`;
}

const list = (command: string, names: string[]) =>
  names.length > 0 ? `${command} ${names.join(" ")}\n` : "";
const flags = (flag: "-o" | "+o", names: string[]) => names.map((name) => `${flag} ${name}`);

function partition<T>(all: T[], test: (item: T) => boolean): [T[], T[]] {
  return [all.filter(test), all.filter((item) => !test(item))];
}
