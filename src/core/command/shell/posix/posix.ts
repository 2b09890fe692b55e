// The dialect of sh, dash and ash. These shells can neither list functions nor read a startup file when they run a
// script. So the command is an `eval` in a `-c` line, functions last for one command, and this file makes the script of
// the state from what `set`, `export -p`, `readonly -p` and `alias` print.
import { type ByteString, fromText, quote } from "../../../process/byte-string.ts";
import type { ReportContext, ReportedState, ShellDialect, ShellState } from "../dialect.ts";
import * as parts from "../script-parts.ts";
import { shellProgram } from "../shell-program.ts";
import bootText from "./boot.sh" with { type: "text" };
import trapWrapperText from "./trap-wrapper.sh" with { type: "text" };

const boot = shellProgram(bootText);
const trapWrapper = shellProgram(trapWrapperText)();

const bootFile = "boot";
/** These shells find special builtins before functions, so a function cannot hide it. */
const source = ".";
const words = { builtin: "command", command: "command", exit: "exit" };

/** Variables that are readonly, computed or trl's own. */
const notRestored =
  /^(?:__trl_.*|PWD|OLDPWD|PPID|LINENO|S?RANDOM|SECONDS|EPOCH\w+|UID|EUID|SHELLOPTS|BASHOPTS|BASHPID|BASH_.*|HISTCMD|FUNCNAME|GROUPS|DIRSTACK|PIPESTATUS|OPTIND|_)$/;
const optionsNotRestored = ["noexec", "interactive", "stdin", "monitor", "privileged"];
/** Options that act on the lines after them, so they come last. */
const lateOptions = ["errexit", "xtrace", "verbose", "allexport"];

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
      parts.beginLine(`${dir}/${bootFile}`, words) +
      (parts.maySetExitTrap(feed) ? trapWrapper : "") +
      `__trl_run=${quote(lateScript + feed.command)}\n${feed.state.aliasScript ?? ""}`;
    return { prologue: lastStatus === 0 ? prologue : `${prologue}\\return ${lastStatus}\n` };
  },

  readReport(report, context): ReportedState | undefined {
    const fields = parts.reportFields(report, 8);
    if (!fields) return undefined;
    const [set, oldpwd, pwd, variables, exports, readonlys, aliases, umask] = fields as Fields;
    const on = [...set.matchAll(/^set -o (\w+)$/gm)].map((match) => match[1]!);
    const options = parts.optionChanges([], on, optionsNotRestored).on;
    const isLate = (name: string) => lateOptions.includes(name);
    const { script, exportedNames } = readVariables({ variables, exports, readonlys }, context);
    const early = options.filter((name) => !isLate(name));
    const aliasEntries = entriesOf(aliases.replaceAll(/^alias /gm, "")).map(([, text]) => text);
    return {
      workingDir: parts.directoryAfter(pwd, context),
      previousDir: oldpwd === "" ? undefined : oldpwd,
      script: `${script}umask ${umask.trim()}\n${lines("set -o", early)}`,
      lateScript: options
        .filter(isLate)
        .map((name) => `set -o ${name}; `)
        .join(""),
      aliasScript: lines("alias", aliasEntries),
      exportedNames,
    };
  },
};

interface VariableFields {
  variables: ByteString;
  exports: ByteString;
  readonlys: ByteString;
}

/** Variables that only this command got have their values from before it in the session. */
function readVariables({ variables, exports, readonlys }: VariableFields, context: ReportContext) {
  const { feed, launchEnv } = context;
  const given = feed.env.map(([name]) => name);
  const isOfSession = (name: string) => !given.includes(name);
  const before = given.map((name) => ({ name, ...previousValue(name, feed.state.script) }));
  const present = entriesOf(variables);
  const assignments = present.filter(([name]) => !notRestored.test(name) && isOfSession(name));
  const exported = new Set(entriesOf(exports).map(([name]) => name.replace(/^(?:export|declare -\w+) /, "")));
  const names = new Set([...present.map(([name]) => name), ...given]);
  for (const { name, isUnset } of before) if (isUnset) names.delete(name);
  // A variable that only this command got, and that it made readonly, is not readonly in the session.
  const readonlyVariables = readonlyNames(readonlys).filter(
    (name) => isOfSession(name) || wasReadonly(name, feed.state),
  );
  const wasExported = ({ name, isUnset, text }: (typeof before)[number]): boolean =>
    text.startsWith("export ") || (text === "" && !isUnset && name in launchEnv);
  return {
    script:
      parts.unsetLines({ PATH: "", ...launchEnv }, names) +
      assignments.map(([name, text]) => `${exported.has(name) ? "export " : ""}${text}\n`).join("") +
      before.map(({ text }) => text).join("") +
      lines("readonly", readonlyVariables),
    exportedNames: [
      ...[...exported].filter(isOfSession),
      ...before.filter(wasExported).map(({ name }) => name),
    ],
  };
}

type Fields = [string, string, string, string, string, string, string, string];

const entryPattern = /(?:'[^']*'|"[^"\\]*(?:\\[\s\S][^"\\]*)*"|\\[\s\S]|[^\n'"\\]+)+/g;

/** `name='value'` entries, one per line; a quoted value may contain newlines. */
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
    .filter((name) => !notRestored.test(name));

const wasReadonly = (name: string, { script }: ShellState): boolean =>
  new RegExp(`^readonly ${name}$`, "m").test(script);

/** A variable in a state's script: an assignment, an `unset`, or neither. */
function previousValue(name: string, script: ByteString): { text: ByteString; isUnset: boolean } {
  const entry = entriesOf(script).find(([assigned]) => assigned.replace(/^export /, "") === name);
  const unset = /^unset (.*)$/m.exec(script)?.[1]?.split(" ") ?? [];
  return { text: entry ? `${entry[1]}\n` : "", isUnset: unset.includes(name) };
}

const lines = (command: string, words: ByteString[]) => words.map((word) => `${command} ${word}\n`).join("");
