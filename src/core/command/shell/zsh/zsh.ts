// zsh runs the command as a script file, as bash does. The machinery is the startup file .zshenv of a private
// ZDOTDIR, with a hook on EXIT (which `set -e` reaches) and another (which no trap of the user can replace).
import { type ByteString, quote } from "../../../process/byte-string.ts";
import type { CommandFeed, ReportedState, ShellDialect, ShellState } from "../dialect.ts";
import * as parts from "../script-parts.ts";

const commandFile = "zsh";
const source = "builtin .";
const words = { builtin: "builtin", command: "builtin command", exit: "builtin exit" };
/** Parameters that zsh itself gives a meaning to but whose value is the user's. */
const usersSpecials =
  "PATH HOME IFS CDPATH FPATH MANPATH FIGNORE TERM TERMINFO LANG LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES " +
  "LC_NUMERIC LC_TIME NULLCMD READNULLCMD PS1 PS2 PS3 PS4 WORDCHARS HISTSIZE SAVEHIST OPTIND ZDOTDIR";

const neverKept = [
  "exec",
  "singlecommand",
  "interactive",
  "shinstdin",
  "login",
  "privileged",
  "restricted",
].concat(["monitor", "rcs", "globalrcs", "zle"]);
const late = ["errexit", "errreturn", "xtrace", "verbose", "allexport"];

/**
 * Handlers of the user's must not run in the process that writes the report: what they print would be in it, and what
 * they change would be there by half. zsh cannot ignore a signal that has a handler without a moment in which the signal
 * would end the shell. So where there are any, a subshell writes the report, and the shell runs its handlers as always;
 * the subshell drops its copies of them. They are listed first, in the report's file: the line that ends one names its signal. Some are
 * functions, and gone by this: they are reported nevertheless.
 */
const silenceHandlers: ByteString = `__trl_kept=
for __trl_name in $__trl_handled; do
(( ! \${+functions[TRAP$__trl_name]} )) || __trl_kept+="TRAP$__trl_name () {
\${functions[TRAP$__trl_name]}
}
"
case $__trl_name in CHLD|ZERR|DEBUG) builtin trap - $__trl_name;; *) builtin trap '' $__trl_name;; esac
done
`;

const bootScript = (dir: string): ByteString => `unset ZDOTDIR
__trl_done=
__trl_on0=(\${(k)options[(R)on]})
__trl_write() {
${silenceHandlers}builtin printf '\\0'
__trl_constant=() __trl_gone=() __trl_before=
for __trl_at __trl_name in $__trl_env; do
__trl_saved=${parts.fileWord(dir, "savedEnv")}.$__trl_at
if [[ \${parameters[$__trl_name]-} != *readonly* ]]; then
builtin unset -v $__trl_name
builtin source $__trl_saved
else
__trl_constant+=($__trl_name)
__trl_before+=$(<$__trl_saved)$'\\n'
[[ -s $__trl_saved ]] || __trl_gone+=($__trl_name)
fi
done
builtin pwd
builtin printf '\\0%s\\0%s\\0%s\\0' "\${OLDPWD-}" "\${(j.:.)__trl_on0}" "\${(j.:.)__trl_on}"
builtin print -rl -- \${\${(k)parameters}:|__trl_gone}
builtin printf '\\0'
builtin print -rl -- \${\${(k)parameters[(R)*export*]}:|__trl_gone}
builtin printf '\\0'
__trl_names=(\${(k)parameters[(R)^*(special|hide|undefined)*]} \${(k)parameters[(I)(${usersSpecials.replaceAll(" ", "|")})]})
__trl_names=(\${\${__trl_names:#__trl_*}:#(_|TRL_COMMAND_ID|PWD|OLDPWD|signals|zshexit_functions|ZSH_*|TTY|VENDOR|MACHTYPE|OSTYPE|CPUTYPE|HOST|LOGNAME)})
builtin typeset -p -- \${__trl_names:|__trl_constant}
builtin print -r -- "$__trl_before"
(( \${+PATH} )) || builtin print unset PATH
(( \${+HOME} )) || builtin print unset HOME
builtin printf '\\0'
(( \${#dirstack} == 0 )) || builtin print -r -- "dirstack=( \${(@qq)dirstack} )"
builtin printf '\\0'
builtin alias -L
builtin print -r -- umask $(builtin umask)
builtin printf '\\0'
__trl_names=(\${(k)functions:#__trl_*})
(( \${#__trl_names} == 0 )) || builtin functions $__trl_names
builtin print -r -- "$__trl_kept"
builtin printf '\\0whole'
}
__trl_report() {
[[ -z $__trl_done ]] || builtin return 0
__trl_on=(\${(k)options[(R)on]})
builtin emulate -L zsh
builtin setopt extended_glob
builtin unsetopt xtrace verbose err_exit err_return
builtin trap '' XFSZ
builtin trap >| ${parts.fileWord(dir, "report")}
__trl_names=(\${\${(f)"$(<${parts.fileWord(dir, "report")})"}##* } \${\${(k)functions[(I)TRAP*]}#TRAP})
__trl_handled=(\${\${signals:#(EXIT|XFSZ)}:*__trl_names})
if (( \${#__trl_handled} )); then ( __trl_write ) >| ${parts.fileWord(dir, "report")}
else __trl_write >| ${parts.fileWord(dir, "report")}
fi
__trl_done=1
}
__trl_hook() { { __trl_report } >/dev/null 2>&1 }
zshexit_functions=(__trl_hook)
trap '{ (( FUNCNEST > 9 )) || FUNCNEST=500; __trl_report } >/dev/null 2>&1' EXIT
${parts.awaitState}${parts.awaitCommand(source)}`;

export const zsh: ShellDialect = {
  commandFile,
  bootFile: ".zshenv",
  source,

  launch: (shell, dir) => ({
    argv: [shell, "-d", `${dir}/${commandFile}`],
    env: { ZDOTDIR: dir },
  }),

  initialState({ ZDOTDIR, ...launchEnv }) {
    return {
      launchEnv,
      script: ZDOTDIR === undefined ? "" : parts.exportLine("ZDOTDIR", ZDOTDIR),
      lateScript: "",
    };
  },

  bootScript,
  stateScript: (state) => state.script + quietly(parts.waitInDirectory(state, "builtin"), state),
  commandScript: (feed, dir) => ({ file: feed.command, prologue: prologue(feed, dir) }),

  readReport(report, context): ReportedState | undefined {
    const fields = parts.reportFields(report, 10);
    if (!fields) return undefined;
    const [pwd, oldpwd, on0, on, names, exported, variables, dirstack, rest, functions] = fields as Fields;
    const options = parts.optionChanges(on0.split(":"), on.split(":"), neverKept);
    const isLate = (name: string) => late.includes(name);
    return {
      workingDir: parts.directoryAfter(pwd, context),
      previousDir: oldpwd === "" ? undefined : oldpwd,
      script:
        `setopt no_aliases\n${parts.unsetLines(context.launchEnv, new Set(names.split("\n")))}` +
        `${variables}\n${rest}\n` +
        list(
          "setopt",
          options.on.filter((name) => !isLate(name)),
        ) +
        list(
          "unsetopt",
          options.off.filter((name) => name !== "aliases"),
        ) +
        parts.defineFunctions(functions),
      // One line, read before the first of them acts on the reading of lines.
      lateScript: dirstack + list("builtin setopt", [...options.on.filter(isLate), ...aliasesIf(on)]),
      exportedNames: exported.split("\n").filter(Boolean).sort(),
    };
  },
};

type Fields = [string, string, string, string, string, string, string, string, string, string];

function prologue(feed: CommandFeed, dir: string): ByteString {
  const savedEnv = parts.fileWord(dir, "savedEnv");
  // What is read-only stays as it is, and must not be touched. A name may be too long for one of a file.
  const saveEnv = feed.env.map(
    ([name], at) =>
      `[[ \${parameters[${name}]-} == *readonly* ]] || ` +
      `{ __trl_env+=(${at} ${name}); builtin typeset -p ${name} >|${savedEnv}.${at} 2>/dev/null; }\n`,
  );
  const { lastStatus, lateScript } = feed.state;
  const keepsStatus = lastStatus !== 0 && feed.command.includes("$?") && !lateScript.includes("err");
  return (
    `builtin exec ${parts.descriptors(feed)}\n` +
    moveToDirectory(feed, dir) +
    (saveEnv.length > 0 ? `__trl_env=()\n${saveEnv.join("")}` : "") +
    applyEnv(feed) +
    lateScript +
    (keepsStatus ? `{ builtin return ${lastStatus}; } 2>/dev/null\n` : "")
  );
}

/**
 * What is read-only stays as it is. What is no plain text in the session is none for programs, or another: it is made
 * anew. One that cannot be given keeps no other from it. The session's options are set already: no groups of patterns, and
 * none of commands on one line.
 */
function applyEnv(feed: CommandFeed): ByteString {
  const lines = feed.env.map(([name, value]) => {
    const unset = `builtin unset -v ${name}`;
    if (value === null) return `case \${parameters[${name}]-} in *readonly*) ;; *) ${unset};; esac\n`;
    const set = `builtin eval ${quote(`builtin export ${name}=${quote(value)}`)}`;
    return `case \${parameters[${name}]-} in *readonly*) ;; *special*) ${set};; ${otherKinds}) ${unset}; ${set};; *) ${set};; esac\n`;
  });
  // With that option on, a failure would end the shell.
  const before = "__trl_posix=${options[posixbuiltins]}\nbuiltin unsetopt posix_builtins\n";
  const after = "case $__trl_posix in on) builtin setopt posix_builtins;; esac\n";
  const own = lines.length > 0 ? `${before}{\n${lines.join("")}} 2>/dev/null\n${after}` : "";
  return own + parts.applyEnv({ ...feed, env: [] }, "builtin");
}

const otherKinds = "*array*|*association*|*integer*|*float*|*lower*|*upper*|*left*|*right*";

/** `cd -` goes by where zsh was, not by OLDPWD; -q: no hooks of the user's on the way. */
function quietly(script: ByteString, { previousDir }: ShellState): ByteString {
  const before = previousDir === undefined ? "" : `builtin cd -q -- ${quote(previousDir)} 2>/dev/null\n`;
  return before + script.replaceAll("builtin cd --", "builtin cd -q --");
}

function moveToDirectory(feed: CommandFeed, dir: string): ByteString {
  const script = parts.moveToDirectory(feed, dir, words);
  return feed.place === "here" ? script : quietly(script, feed.state);
}

const aliasesIf = (on: string) => (on.split(":").includes("aliases") ? ["aliases"] : []);

const list = (command: string, names: string[]) =>
  names.length > 0 ? `${command} ${names.join(" ")}\n` : "";
