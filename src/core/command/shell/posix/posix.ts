// sh, dash and ash can neither list functions nor read a startup file when they run a script, so the command
// is an `eval` in a `-c` line, and what `set`, `export -p`, `readonly -p` and `alias` print is made into a
// script here. Functions last for one command.
import { type ByteString, fromText, quote } from "../../../process/byte-string.ts";
import type { ReportedState, ShellDialect, ShellState } from "../dialect.ts";
import * as parts from "../script-parts.ts";
import { shellProgram } from "../shell-program.ts";
import bootText from "./boot.sh" with { type: "text" };
import trapWrapperText from "./trap-wrapper.sh" with { type: "text" };

const boot = shellProgram(bootText);
const trapWrapper = shellProgram(trapWrapperText)();

const bootFile = "boot";
/** These shells find special builtins before functions, and keep no functions. */
const source = ".";
const words = { builtin: "command", command: "command", exit: "exit" };

/** Read-only, computed or the machinery's own. */
const notKept =
  /^(?:__trl_.*|PWD|OLDPWD|PPID|LINENO|RANDOM|SECONDS|UID|EUID|SHELLOPTS|BASHOPTS|BASH_.*|FUNCNAME|GROUPS|DIRSTACK|PIPESTATUS|OPTIND|_)$/;
const neverKept = ["noexec", "interactive", "stdin", "monitor", "privileged"];
const late = ["errexit", "xtrace", "verbose", "allexport"];

export const posix: ShellDialect = {
  commandFile: "",
  bootFile,
  source,

  launch: (shell, dir) => ({
    argv: [
      shell,
      "-c",
      `. ${quote(fromText(`${dir}/${bootFile}`))}; eval "$__trl_run"`,
      shell.split("/").at(-1)!,
    ],
    env: {},
  }),

  initialState: (launchEnv) => ({ launchEnv, script: "", lateScript: "" }),

  bootScript: (dir) =>
    boot({ REPORT_FILE: parts.fileWord(dir, "report"), HANDLERS_FILE: parts.fileWord(dir, "handlers") }),
  stateScript: (state) => state.script + parts.waitInDirectory(state, "command"),

  commandScript(feed, dir) {
    const { lastStatus, lateScript } = feed.state;
    const prologue =
      `exec ${parts.descriptors(feed)}\n` +
      parts.moveToDirectory(feed, dir, words) +
      parts.applyEnv(feed, "command") +
      (parts.maySetExitTrap(feed) ? trapWrapper : "") +
      `__trl_run=${quote(lateScript + feed.command)}\n${feed.state.aliasScript ?? ""}`;
    return { prologue: lastStatus === 0 ? prologue : `${prologue}\\return ${lastStatus}\n` };
  },

  readReport(report, context): ReportedState | undefined {
    const fields = parts.reportFields(report, 8);
    if (!fields) return undefined;
    const [set, oldpwd, pwd, variables, exports, readonlys, aliases, umask] = fields as Fields;
    const on = [...set.matchAll(/^set -o (\w+)$/gm)].map((match) => match[1]!);
    const { feed, launchEnv } = context;
    const options = parts.optionChanges([], on, neverKept);
    const isLate = (name: string) => late.includes(name);
    // Variables that the command was given for itself alone are as they were before it.
    const own = feed.env.map(([name]) => name);
    const before = own.map((name) => ({ name, ...saidOf(name, feed.state.script) }));
    const present = entriesOf(variables);
    const assignments = present.filter(([name]) => !notKept.test(name) && !own.includes(name));
    const exported = new Set(
      entriesOf(exports).map(([name]) => name.replace(/^(?:export|declare -\w+) /, "")),
    );
    const isThere = new Set([...present.map(([name]) => name), ...own]);
    for (const { name, isUnset } of before) if (isUnset) isThere.delete(name);
    return {
      workingDir: parts.directoryAfter(pwd, context),
      previousDir: oldpwd === "" ? undefined : oldpwd,
      script:
        parts.unsetLines({ PATH: "", ...launchEnv }, isThere) +
        assignments.map(([name, text]) => `${exported.has(name) ? "export " : ""}${text}\n`).join("") +
        before.map(({ text }) => text).join("") +
        // One that was given to the command alone and made constant by it is not that in the session.
        lines(
          "readonly",
          readonlyNames(readonlys).filter((name) => !own.includes(name) || wasReadonly(name, feed.state)),
        ) +
        `umask ${umask.trim()}\n` +
        lines(
          "set -o",
          options.on.filter((name) => !isLate(name)),
        ),
      lateScript: options.on
        .filter(isLate)
        .map((name) => `set -o ${name}; `)
        .join(""),
      aliasScript: lines(
        "alias",
        entriesOf(aliases.replaceAll(/^alias /gm, "")).map(([, text]) => text),
      ),
      exportedNames: [
        ...[...exported].filter((name) => !own.includes(name)),
        ...before.flatMap(({ name, isUnset, text }) => {
          const isInherited = text === "" && !isUnset && name in launchEnv;
          return isInherited || text.startsWith("export ") ? [name] : [];
        }),
      ],
    };
  },
};

type Fields = [string, string, string, string, string, string, string, string];

const entryPattern = /(?:'[^']*'|"[^"\\]*(?:\\[\s\S][^"\\]*)*"|\\[\s\S]|[^\n'"\\]+)+/g;

/** `name='value'` entries, one a line, except that a quoted value may hold newlines. */
function entriesOf(text: ByteString): [name: string, text: ByteString][] {
  const entries: [string, ByteString][] = [];
  for (const [entry] of text.matchAll(entryPattern)) {
    const equals = entry.indexOf("=");
    if (equals > 0) entries.push([entry.slice(0, equals), entry]);
  }
  return entries;
}

const readonlyNames = (text: ByteString): string[] =>
  [...text.matchAll(/^(?:readonly|declare -\w+) (\w+)/gm)]
    .map((match) => match[1]!)
    .filter((name) => !notKept.test(name));

const wasReadonly = (name: string, { script }: ShellState): boolean =>
  new RegExp(`^readonly ${name}$`, "m").test(script);

/** What a state's script says of a variable: an assignment, that it is unset, or nothing. */
function saidOf(name: string, script: ByteString): { text: ByteString; isUnset: boolean } {
  const entry = entriesOf(script).find(([said]) => said.replace(/^export /, "") === name);
  const unset = /^unset (.*)$/m.exec(script)?.[1]?.split(" ") ?? [];
  return { text: entry ? `${entry[1]}\n` : "", isUnset: unset.includes(name) };
}

const lines = (command: string, words: ByteString[]) => words.map((word) => `${command} ${word}\n`).join("");
