// bash runs the command as a script file, so that `set -x`, ERR traps, line numbers and `return` are those of
// a script (an `eval` would show as "++" and fire ERR twice). The machinery is the startup file (BASH_ENV),
// which is over before the script begins, and a hook on EXIT. It leans on `builtin`, `[[` and, where it must,
// on posix mode, in which special builtins win over functions: the user may have defined any name.

import { type ByteString, fromText, quote } from "../../../process/byte-string.ts";
import { inPlaceKind } from "../analysis/in-place-kind.ts";
import { becoming, deeper, programWords } from "../analysis/single-program.ts";
import { changeOf } from "../analysis/state-changes.ts";
import type {
  CommandFeed,
  ReportContext,
  ReportedState,
  ReportKind,
  ShellDialect,
  ShellState,
  Surroundings,
} from "../dialect.ts";
import * as parts from "../script-parts.ts";
import { bootScript, commandFile, hideReport, reportPart, trapBareHook, trapWrapper } from "./boot.ts";
import { exportsIn, recordsIn, withVariables } from "./environment.ts";
import { defineAtLines, defineHelper } from "./functions.ts";
import { type BashRecord, changing, isInherited, parseRecords, restoring } from "./records.ts";

const bootFile = "boot";
const source = "builtin .";

/** Every bash sets these itself; where the state does not mention one, the user has unset it. */
const bornWithShell = "PATH HOSTNAME HOSTTYPE IFS MACHTYPE OPTERR OSTYPE PS4 SHELL TERM SHLVL".split(" ");

const defaultOptions = ["braceexpand", "hashall", "interactive-comments"];
/** A session that kept one of the first two could never run a command again. */
const neverKept = ["noexec", "onecmd", "privileged", "restricted", "monitor"];
/** The first is for the last moment; the second would start a debugger in every new shell. */
const neverKeptShopts = ["expand_aliases", "extdebug"];
const late = ["errexit", "xtrace", "verbose", "posix", "allexport", "keyword"];

/** Aliases work, as in a terminal, from the user's first line on and not before: the machinery knows none. */
const aliasesOn = "builtin shopt -s expand_aliases\n";

export const bash: ShellDialect = {
  commandFile,
  bootFile,
  source,
  functionIn,
  inPlaceKind,
  withVariables: changedVariables,
  programs: { wordsOf: programWords, exportsIn },

  launch: (shell, dir) => ({
    argv: [shell, `${dir}/${commandFile}`],
    env: { BASH_ENV: `${dir}/${bootFile}` },
  }),

  initialState(env) {
    const launchEnv = Object.fromEntries(Object.entries(env).filter(([name]) => !notInherited.test(name)));
    // One named `builtin` would hide every builtin from the machinery: it lasts for one command at most.
    const functions = Object.entries(env).flatMap(([name, value]) => {
      const given = functionIn(name, value);
      return given && given !== "builtin" ? parts.defineFunctions(functionLines(given, fromText(value))) : [];
    });
    const startup = env["BASH_ENV"] === undefined ? "" : parts.exportLine("BASH_ENV", env["BASH_ENV"]);
    return { launchEnv, script: startup + functions.join(""), lateScript: aliasesOn };
  },

  reportKind,
  bootScript,

  stateScript(state) {
    // With no alias there is nothing that could change the machinery's last lines.
    const aliases = state.lateScript === aliasesOn && !hasAliases(state) ? aliasesOn : "";
    const helper = state.script.includes("__trl_define") ? defineHelper : "";
    const place = `__trl_astray=${quote(state.workingDir)}\n`; // until it is there, whatever goes wrong before
    return `${helper}${place}${state.script}${parts.waitInDirectory(state, "builtin")}${aliases}`;
  },

  commandScript(feed, dir) {
    const report = reportKind(feed);
    const becomes = report === "none" ? becoming(feed) : undefined;
    return {
      file: becomes ?? feed.command,
      prologue: prologue(feed, dir, report) + (becomes === undefined ? "" : deeper),
      isHarmless: report === "none",
      execsProgram: becomes !== undefined,
    };
  },

  readReport(report, context): ReportedState | undefined {
    const fields = parts.reportFields(report, 10);
    if (!fields) return partState(report, context);
    const [pwd, oldpwd, set, shopt0, shopt, shoptLines, variables, misc, functions, exports] =
      fields as Fields;
    const shopts = parts.optionChanges(shopt0.split(":"), shopt.split(":"), neverKeptShopts);
    const options = parts.optionChanges(
      defaultOptions,
      withoutGiven(set.split(":"), context.feed),
      neverKept,
    );
    const [lateOn, on] = partition(options.on, (name) => late.includes(name));
    const expandsAliases = /(?:^|:)expand_aliases(?:$|:)|^shopt -s expand_aliases$/m.test(
      shopt || shoptLines,
    );
    const hasExtglob = /(?:^|:)extglob(?:$|:)|^shopt -s extglob$/m.test(shopt || shoptLines);
    const { lines, exportedNames } = readVariables(variables, context);
    return {
      workingDir: parts.directoryAfter(pwd, context),
      previousDir: isGiven("OLDPWD", context.feed) ? context.feed.state.previousDir : oldpwd || undefined,
      script:
        `${shoptLines}${list("shopt -s", shopts.on)}${list("shopt -u", shopts.off)}shopt -u expand_aliases\n` +
        `${lines}${misc}\n${list("builtin set", flags("-o", on))}${list("builtin set", flags("+o", options.off))}` +
        restoreFunctions(functions, exports, context.feed.state.script) +
        (functions.trim() === "" || hasExtglob ? "" : "builtin shopt -u extglob\n"),
      lateScript: (expandsAliases ? aliasesOn : "") + list("builtin set", flags("-o", lateOn)),
      exportedNames,
    };
  },
};

function reportKind(feed: CommandFeed): ReportKind {
  const change = changeOf(feed);
  if (change === "anything") return "whole";
  if (!change.directory && change.variables.length === 0) return "none";
  const isUsual = feed.place === "here" && feed.env.length === 0 && !hasAliases(feed.state);
  return isUsual ? "part" : "whole";
}

/** Of a report of the directory and of some variables: the rest is as it was. */
function partState(report: ByteString, context: ReportContext): ReportedState | undefined {
  // The second is of a shell that an earlier version has started.
  const fields = parts.reportFields(report, 3, "part") ?? parts.reportFields(report, 2, "moved");
  if (!fields) return undefined;
  const [pwd, oldpwd, variables = ""] = fields as [string, string, string];
  const { state } = context.feed;
  const { script, exportedNames } = changedVariables(state, variables);
  const isNew = oldpwd !== "" && !exportedNames.includes("OLDPWD");
  return {
    ...{ script, lateScript: state.lateScript },
    workingDir: parts.directoryAfter(pwd, context),
    previousDir: oldpwd || undefined,
    exportedNames: isNew ? [...exportedNames, "OLDPWD"] : exportedNames,
  };
}

function changedVariables(
  { script, exportedNames }: ShellState,
  listed: ByteString,
): Pick<ShellState, "script" | "exportedNames"> {
  const records = parseRecords(listed);
  const exported = records.filter(({ flags }) => flags.includes("x")).map(({ name }) => name);
  const isNew = exported.some((name) => !exportedNames.includes(name));
  return {
    script: withVariables(script, records),
    exportedNames: isNew ? [...new Set([...exportedNames, ...exported])] : exportedNames,
  };
}

/** As bash itself reads them; a name that would be read as something else is left to it. */
function functionIn(variable: string, value: string): string | undefined {
  if (!value.startsWith("() {")) return undefined;
  return /^BASH_FUNC_([\w.:,+@[\]^\x80-\uffff-]+)%%$/.exec(variable)?.[1];
}

function functionLines(name: string, body: ByteString): ByteString {
  const word = name === "builtin" ? "command" : "builtin";
  return `${fromText(name)} ${body}\n${word} export -f ${fromText(name)}`;
}

/** What must not reach the next shell through its environment: it is restored, or would change how bash starts. */
const notInherited = /^(?:BASH_ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|POSIXLY_CORRECT)$/;
/** Every bash has its own, and most of them compute it: restoring one would freeze it. */
const constant =
  /^(?:BASH|BASHOPTS|BASH_(?:ALIASES|ARGC|ARGV|ARGV0|CMDS|EXECUTION_STRING|LINENO|SOURCE|SUBSHELL|VERSINFO|VERSION)|DIRSTACK|EPOCHREALTIME|EPOCHSECONDS|BASH_MONOSECONDS|EUID|FUNCNAME|GROUPS|RANDOM|SECONDS|SRANDOM|PPID|SHELLOPTS|UID|PWD|OLDPWD|PIPESTATUS|_|__trl_.*)$/;

/** Last, so that none is in the way of the rest. A body may need extglob to be read, whatever the session has. */
function restoreFunctions(functions: ByteString, attributes: ByteString, before: ByteString): ByteString {
  if (functions.trim() === "") return "";
  const [exported, places] = partition(attributes.split("\n"), (line) => line.startsWith("declare "));
  const exports = exported.map((line) => `builtin ${line}\n`).join("");
  return `shopt -s extglob\n${defineAtLines(functions, places.join("\n").trim(), before)}${exports}\n`;
}

/** Variables that switch an option on and off. */
const switches = { IGNOREEOF: "ignoreeof", POSIXLY_CORRECT: "posix" };

/** What a command was given for itself alone leaves the options of the session as they were before it. */
function withoutGiven(options: string[], feed: Surroundings): string[] {
  const given = Object.entries(switches).flatMap(([name, option]) => (isGiven(name, feed) ? [option] : []));
  if (given.length === 0) return options;
  const before = feed.state.script + feed.state.lateScript;
  const kept = given.filter((option) => new RegExp(`^builtin set .*-o ${option}\\b`, "m").test(before));
  return [...options.filter((option) => !given.includes(option)), ...kept];
}

const hasAliases = ({ script }: ShellState) => /^alias /m.test(script);

function readVariables(variables: ByteString, { launchEnv, feed }: ReportContext) {
  const records = asBefore(parseRecords(variables), feed);
  const names = new Set(records.map(({ name }) => name));
  const exported = new Set(records.filter(({ flags }) => flags.includes("x")).map(({ name }) => name));
  // One that is exported without a value is not to have that which the shell is started with.
  const given = new Set(records.filter(({ text }) => text.includes("=")).map(({ name }) => name));
  const born = bornWithShell.filter((name) => !names.has(name));
  const told = records.filter((record) => !constant.test(record.name) && !isInherited(record, launchEnv));
  return {
    // One that is there, but no longer for programs, is unset as well: it would be exported again otherwise.
    lines:
      parts.unsetLines(launchEnv, exported.intersection(given)) +
      list("unset", born) +
      told.map(restoring).join(""),
    exportedNames: [...exported],
  };
}

/**
 * One that was given to the command alone and made constant by it could not be made what it was in that shell. That is
 * told behind all the others, where it was anything.
 */
function asBefore(records: BashRecord[], feed: Surroundings): BashRecord[] {
  if (feed.env.length === 0) return records;
  const told = Map.groupBy(records, ({ name }) => name);
  const isMadeConstant = ({ name, flags }: BashRecord) =>
    flags.includes("r") && isGiven(name, feed) && !attributesOf(name, feed).includes("r");
  return [...told.values()].flatMap(([first, ...before]) => (isMadeConstant(first!) ? before : [first!]));
}

type Fields = [string, string, string, string, string, string, string, string, string, string];

function prologue(given: CommandFeed, dir: string, report: ReportKind): ByteString {
  // One that cannot be changed is as it is for the command, too.
  const isSettable = (name: ByteString) => !tables.test(name) && !attributesOf(name, given).includes("r");
  const feed = { ...given, env: given.env.filter(([name]) => isSettable(name)) };
  const { lastStatus, lateScript } = feed.state;
  // Only where it is asked for: a syntax error would otherwise end with this status instead of its own.
  const keepsStatus =
    lastStatus !== 0 &&
    feed.command.includes("$?") &&
    !lateScript.includes("errexit") &&
    !mayHideBuiltin(feed);
  const setStatus = `\\builtin return ${lastStatus}`;
  return (
    closeDescriptors(feed) +
    parts.moveToDirectory(feed, dir, words) +
    list("builtin declare +i +l +u", givenNames(feed, /[ilu]/)) +
    (report === "whole" ? saveEnv(feed, dir) : "") +
    // It would be the variable that it stands for that is set, exported, and lost with the command.
    list("builtin unset -n", givenNames(feed, /n/)) +
    // No program would be given it.
    list("builtin unset -v", givenNames(feed, /[aA]/)) +
    parts.applyEnv(feed, "builtin") +
    guardReport(feed, dir, report) +
    defineGiven(feed) +
    (lateScript === aliasesOn && !hasAliases(feed.state) ? "" : lateScript) +
    (keepsStatus ? `${mayAliasBraces(feed) ? setStatus : `{ ${setStatus}; }`} 2>/dev/null\n` : "")
  );
}

const words = { builtin: "builtin", command: "builtin command", exit: "builtin exit" };

/** Tables of the shell's own: a text that is assigned to one is an entry in it, and no program is given it. */
const tables = /^BASH_(?:ALIASES|CMDS)$/;

/** One named `builtin` last: it hides the words that define the others. */
function defineGiven({ functions }: CommandFeed): ByteString {
  const sorted = functions.toSorted(([a], [b]) => Number(a === "builtin") - Number(b === "builtin"));
  const definitions = sorted.map(([name, body]) => `builtin eval ${quote(functionLines(name, body))}`);
  return definitions.map((line) => `${line} >/dev/null 2>&1\n`).join("");
}

/** What is given to the command alone is text, whatever the session has by that name: those where it has such a thing. */
const givenNames = (feed: CommandFeed, attributes: RegExp): string[] =>
  feed.env.map(([name]) => name).filter((name) => attributes.test(attributesOf(name, feed)));

const isGiven = (name: string, { env }: Surroundings): boolean => env.some(([given]) => given === name);

/** Of the session's variable of that name. */
const attributesOf = (name: string, { state }: Pick<CommandFeed, "state">): string =>
  (recordsIn(state).get(name) ?? []).map(({ flags }) => flags).join("");

/** What is given to the command alone is not the session's: the report has the old values. */
function saveEnv(feed: CommandFeed, dir: string): ByteString {
  if (feed.env.length === 0 && feed.functions.length === 0) return "";
  const names = feed.env.map(([name]) => name).join(" ") || "__trl_none";
  const saved = parts.fileWord(dir, "savedEnv");
  const again = givenNames(feed, /[ilu]/).map(
    (name) => `builtin printf 'declare -${changing(attributesOf(name, feed))} ${name}\\n' >>${saved}\n`,
  );
  return `__trl_env=(${names})\nbuiltin declare -p ${names} >|${saved} 2>/dev/null\n${again.join("")}${saveFunctions(feed, saved)}`;
}

/** Those of the session that have the name of one that the command is given. */
function saveFunctions({ functions }: CommandFeed, saved: ByteString): ByteString {
  if (functions.length === 0) return "";
  const save = (name: ByteString) =>
    `builtin declare -f ${name} && builtin printf 'builtin ' && builtin declare -pF ${name}\n`;
  const names = functions.map(([name]) => quote(fromText(name)));
  return `__trl_functions=(${names.join(" ")})\n{\n${names.map(save).join("")}} >>${saved} 2>/dev/null\n`;
}

function guardReport(feed: CommandFeed, dir: string, report: ReportKind): ByteString {
  if (report === "none") return "builtin trap - EXIT\n";
  const change = report === "part" ? changeOf(feed) : "anything";
  if (change !== "anything") return reportPart(dir, change.variables);
  const isBare = mayAliasBraces(feed);
  const wrapsTrap = parts.maySetExitTrap(feed);
  return (
    (isBare ? trapBareHook : "") +
    (wrapsTrap ? trapWrapper(isBare) : "") +
    (mayHideBuiltin(feed) ? "__trl_hides_builtin=1\n" : "") +
    (mayUseStack(feed) ? "__trl_stacks=1\n" : "") +
    (mayDefine(feed) ? "__trl_lines=1\n" : "") +
    (mayList(feed) && !isBare && !wrapsTrap && !mayHideBuiltin(feed) ? hideReport(dir) : "")
  );
}

/** Whether it may print the names or texts of all functions or variables. */
const mayList = ({ command }: CommandFeed) =>
  /\bcompgen\b|\b(?:declare|typeset)\s+-\w*[fFp]|\b(?:set|declare|typeset)\s*(?:$|[|;&>)`\n])/.test(command);

/** Otherwise the lines of functions are as they were. */
const mayDefine = ({ command }: CommandFeed) =>
  /\(\s*\)|\b(?:function|source|eval)\b|(?:^|[\s;&|({])\.\s/.test(command);

/** Asking for the stack is not cheap, and hardly anybody has one. */
const mayUseStack = ({ command, state }: CommandFeed) =>
  /\b(?:pushd|popd|dirs|DIRSTACK|source)\b|(?:^|[\s;&|({])\.\s/.test(command) ||
  /\bpushd\b/.test(state.script);

/** A function named `builtin` is the one thing that would hide everything else; it lasts for one command. */
const mayHideBuiltin = ({ command, functions }: CommandFeed) =>
  /\bbuiltin\s*\(\s*\)|\bfunction\s+builtin\b/.test(command) ||
  functions.some(([name]) => name === "builtin");

/** The words may be in any order: one pattern for both would look for a brace behind every `alias`. */
const mayAliasBraces = ({ command, state }: CommandFeed) =>
  (/\balias\b/.test(command) && /[\s'"\\][{}]['"]?=/.test(command)) ||
  /\bBASH_ALIASES\[['"\\]?[{}]/.test(command) ||
  /^alias (?:-- )?[{}]=/m.test(state.script);

/**
 * `builtin exec` would undo it again, so that a function named `exec` is in the way; in posix mode it is not. But
 * that mode leaves an option behind, and is not entered without need.
 */
function closeDescriptors(feed: CommandFeed): ByteString {
  const exec = `exec ${parts.descriptors(feed)} 6>&-\n`;
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
