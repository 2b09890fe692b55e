// sh, dash and ash can neither list functions nor read a startup file when they run a script, so the command
// is an `eval` in a `-c` line, and what `set`, `export -p`, `readonly -p` and `alias` print is made into a
// script here. Functions last for one command.
import { type ByteString, fromText, quote } from "./byte-string.ts";
import { type ReportedState, reportFile, type ShellDialect } from "./dialect.ts";
import * as parts from "./script-parts.ts";

/** Read-only, computed or the machinery's own. */
const notKept =
  /^(?:__trl_.*|PWD|OLDPWD|PPID|LINENO|RANDOM|SECONDS|UID|EUID|SHELLOPTS|BASHOPTS|BASH_.*|OPTIND|_)$/;
const neverKept = ["noexec", "interactive", "stdin", "monitor", "privileged"];
const late = ["errexit", "xtrace", "verbose", "allexport"];

const hook = "{ __trl_report $?; } >/dev/null 2>&1";

const bootScript = (report: ByteString) => `__trl_report() {
{
set +o
set +eux
trap - EXIT
trap '' XFSZ
unset -f command printf pwd alias unalias umask
[ -z "\${__trl_wraps_trap-}" ] || unalias trap
printf '\\0%s\\0' "\${OLDPWD-}"
pwd
printf '\\0'
set
printf '\\0'
export -p
printf '\\0'
readonly -p
printf '\\0'
alias
printf '\\0'
umask
printf '\\0end'
} >|${report}
return $1
}
trap '${hook}' EXIT
`;

/** As in bash, but by an alias: these shells find special builtins before functions. */
const trapWrapper = `__trl_wraps_trap=1
__trl_trap() {
case " $* " in *' EXIT '*|*' 0 '*) ;; *) trap "$@"; return;; esac
if read -r __trl_pid __trl_rest 2>/dev/null </proc/self/stat && [ "$__trl_pid" != $$ ]; then trap "$@"; return; fi
trap "$@" || return
[ "$1" != -- ] || shift
if [ "$1" = - ] || [ $# = 1 ]; then trap '${hook}' EXIT; else trap "${hook.replaceAll("$", "\\$")}
$1" EXIT; fi
}
alias trap=__trl_trap
`;

const redirect: parts.Redirect = (redirections) => `exec ${redirections}\n`;

export const posix: ShellDialect = {
  commandFile: "",

  launch: (shell) => ({
    argv: [shell, "-c", '. /dev/fd/3; . /dev/fd/4; eval "$__trl_run"', shell.split("/").at(-1)!],
    env: {},
    workingDir: "/",
  }),

  initialState: (env) => ({ script: parts.exportLines(env), lateScript: "" }),

  stateScript: (state, dir) =>
    `${bootScript(quote(fromText(`${dir}/${reportFile}`)))}${parts.silently(state.script, redirect)}`,

  commandScript(feed, dir) {
    const { lastStatus, lateScript } = feed.state;
    const script =
      parts.closeDescriptors(feed, redirect) +
      parts.enterDirectory(feed, dir, "command") +
      parts.applyEnv(feed, "command") +
      (parts.maySetExitTrap(feed) ? trapWrapper : "") +
      `__trl_run=${quote(lateScript + feed.command)}\n`;
    return { script: lastStatus === 0 ? script : `${script}return ${lastStatus}\n` };
  },

  readReport(report, feed, dir): ReportedState | undefined {
    const fields = parts.reportFields(report, 8);
    if (!fields) return undefined;
    const [set, oldpwd, pwd, variables, exports, readonlys, aliases, umask] = fields as Fields;
    const on = [...set.matchAll(/^set -o (\w+)$/gm)].map((match) => match[1]!);
    const options = parts.optionChanges([], on, neverKept);
    const isLate = (name: string) => late.includes(name);
    const own = new Set(feed.env.map(([name]) => name));
    const assignments = entriesOf(variables).filter(([name]) => !notKept.test(name) && !own.has(name));
    const exported = namesIn(exports, "export");
    return {
      workingDir: parts.directoryAfter(pwd, feed, dir),
      previousDir: oldpwd === "" ? undefined : oldpwd,
      script:
        `${assignments.some(([name]) => name === "PATH") ? "" : "unset PATH\n"}` +
        assignments.map(([name, text]) => `${exported.has(name) ? "export " : ""}${text}\n`).join("") +
        keptLines(feed.state.script, own) +
        [...namesIn(readonlys, "readonly")].map((name) => `readonly ${name}\n`).join("") +
        entriesOf(aliases.replaceAll(/^alias /gm, ""))
          .map(([, text]) => `alias ${text}\n`)
          .join("") +
        `umask ${umask.trim()}\n` +
        options.on
          .filter((name) => !isLate(name))
          .map((name) => `set -o ${name}\n`)
          .join(""),
      lateScript: options.on
        .filter(isLate)
        .map((name) => `set -o ${name}; `)
        .join(""),
      exportedNames: [...exported].filter((name) => !own.has(name) || hasExport(feed.state.script, name)),
    };
  },
};

type Fields = [string, string, string, string, string, string, string, string];

/** `name='value'` entries, one a line, except that a quoted value may hold newlines. */
function entriesOf(text: ByteString): [name: string, text: ByteString][] {
  const entries: [string, ByteString][] = [];
  for (const [entry] of text.matchAll(/(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|[^\n'"\\])+/g)) {
    const equals = entry.indexOf("=");
    if (equals > 0) entries.push([entry.slice(0, equals), entry]);
  }
  return entries;
}

function namesIn(text: ByteString, keyword: "export" | "readonly"): Set<string> {
  const names = text.matchAll(new RegExp(`^(?:${keyword}|declare -\\w+) (\\w+)`, "gm"));
  return new Set([...names].map((match) => match[1]!).filter((name) => !notKept.test(name)));
}

/** What the state before said of the variables that this command was given for itself alone. */
function keptLines(script: ByteString, names: Set<string>): ByteString {
  const kept = entriesOf(script).filter(([name]) => names.has(name.replace(/^export /, "")));
  return kept.map(([, text]) => `${text}\n`).join("");
}

const hasExport = (script: ByteString, name: string) => script.includes(`export ${name}=`);
