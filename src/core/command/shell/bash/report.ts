// Reads the state report of a bash (fields as boot.sh writes them) and makes the script that restores the state in a new
// shell.
import type { ByteString } from "../../../process/byte-string.ts";
import type { ReportContext, ReportedState, ShellState, Surroundings } from "../dialect.ts";
import * as parts from "../script-parts.ts";
import { attributesOf, withVariables } from "./environment.ts";
import { restoreFunctions } from "./functions.ts";
import { aliasesOn } from "./prologue.ts";
import { type BashRecord, isInherited, parseRecords, restoreLines } from "./records.ts";

/** Variables that every bash sets at its start; if a report lacks one, the user has unset it. */
const setAtStart = "PATH HOSTNAME HOSTTYPE IFS MACHTYPE OPTERR OSTYPE PS4 SHELL TERM SHLVL".split(" ");
/** Variables that bash computes or that belong to one shell: restoring one would freeze it. */
const notRestored =
  /^(?:BASH|BASHOPTS|BASH_(?:ALIASES|ARGC|ARGV|ARGV0|CMDS|EXECUTION_STRING|LINENO|SOURCE|SUBSHELL|VERSINFO|VERSION)|DIRSTACK|EPOCHREALTIME|EPOCHSECONDS|BASH_MONOSECONDS|EUID|FUNCNAME|GROUPS|RANDOM|SECONDS|SRANDOM|PPID|SHELLOPTS|UID|PWD|OLDPWD|PIPESTATUS|_|__trl_.*)$/;

const defaultOptions = ["braceexpand", "hashall", "interactive-comments"];
/** With noexec or onecmd restored, a session could never run a command again. */
const optionsNotRestored = ["noexec", "onecmd", "privileged", "restricted", "monitor"];
/** `aliasesOn` restores the first as the last line; the second would start a debugger in every new shell. */
const shoptsNotRestored = ["expand_aliases", "extdebug"];
/** Options that act on the lines after them, so they come last. */
const lateOptions = ["errexit", "xtrace", "verbose", "posix", "allexport", "keyword"];
/** Variables that switch an option on and off. */
const optionVariables = { IGNOREEOF: "ignoreeof", POSIXLY_CORRECT: "posix" };

type Fields = [string, string, string, string, string, string, string, string, string, string];

export function readReport(report: ByteString, context: ReportContext): ReportedState | undefined {
  const fields = parts.reportFields(report, 10);
  if (!fields) return readPartialReport(report, context);
  const [pwd, oldpwd, set, shopt0, shopt, shoptLines, listed, misc, functions, exports] = fields as Fields;
  const variables = unmarked(listed);
  const { feed } = context;
  const shopts = parts.optionChanges(shopt0.split(":"), shopt.split(":"), shoptsNotRestored);
  const options = parts.optionChanges(
    defaultOptions,
    sessionOptions(set.split(":"), feed),
    optionsNotRestored,
  );
  const isLate = (name: string) => lateOptions.includes(name);
  const isShoptOn = (name: string) =>
    new RegExp(`(?:^|:)${name}(?:$|:)|^shopt -s ${name}$`, "m").test(shopt || shoptLines);
  const { lines, exportedNames } = readVariables(variables, context);
  return {
    workingDir: parts.directoryAfter(pwd, context),
    previousDir: parts.isGiven("OLDPWD", feed) ? feed.state.previousDir : oldpwd || undefined,
    script:
      `${shoptLines}${parts.commandLine("shopt -s", shopts.on)}${parts.commandLine("shopt -u", shopts.off)}` +
      `shopt -u expand_aliases\n${lines}${misc}\n` +
      setOptions(
        "-o",
        options.on.filter((name) => !isLate(name)),
      ) +
      setOptions("+o", options.off) +
      restoreFunctions(functions, exports, feed.state.script) +
      (functions.trim() === "" || isShoptOn("extglob") ? "" : "builtin shopt -u extglob\n"),
    lateScript: (isShoptOn("expand_aliases") ? aliasesOn : "") + setOptions("-o", options.on.filter(isLate)),
    exportedNames,
  };
}

/** `declare -p` of bash before 4.4 prints its own mark, \x01, before each \x01 and \x7f of a value. */
const unmarked = (listed: ByteString): ByteString =>
  /^declare -\S+ BASH_VERSION="(?:3|4\.[0-3])\./m.test(listed)
    ? listed.replaceAll(/\x01([\x01\x7f])/g, "$1")
    : listed;

const setOptions = (flag: "-o" | "+o", names: string[]): ByteString =>
  parts.commandLine(
    "builtin set",
    names.map((name) => `${flag} ${name}`),
  );

/** Reads a report of the directory and some variables; the rest of the state is unchanged. */
function readPartialReport(report: ByteString, context: ReportContext): ReportedState | undefined {
  // "moved" comes from a shell that an earlier version started, before an upgrade.
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

/** The state's script and exported names after a command that changed the listed variables. */
export function changedVariables(
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

/** Options that a variable of this command switched are in the session as they were before it. */
function sessionOptions(options: string[], feed: Surroundings): string[] {
  const switched = Object.entries(optionVariables).flatMap(([name, option]) =>
    parts.isGiven(name, feed) ? [option] : [],
  );
  if (switched.length === 0) return options;
  const before = feed.state.script + feed.state.lateScript;
  const wereOn = switched.filter((option) => new RegExp(`^builtin set .*-o ${option}\\b`, "m").test(before));
  return [...options.filter((option) => !switched.includes(option)), ...wereOn];
}

function readVariables(variables: ByteString, { launchEnv, feed }: ReportContext) {
  const records = sessionRecords(parseRecords(variables), feed);
  const names = new Set(records.map(({ name }) => name));
  const exported = new Set(records.filter(({ flags }) => flags.includes("x")).map(({ name }) => name));
  const withValue = new Set(records.filter(({ text }) => text.includes("=")).map(({ name }) => name));
  const unsetAtStart = setAtStart.filter((name) => !names.has(name));
  const restored = records.filter(
    (record) => !notRestored.test(record.name) && !isInherited(record, launchEnv),
  );
  return {
    // A launch variable that is no longer exported, or is exported without a value, is unset first: the new shell
    // would otherwise keep its launch value or its export attribute.
    lines:
      parts.unsetLines(launchEnv, exported.intersection(withValue)) +
      parts.commandLine("unset", unsetAtStart) +
      restored.map(restoreLines).join(""),
    exportedNames: [...exported],
  };
}

/**
 * The report's shell cannot restore a variable of this command that the command made readonly. It appends the saved
 * record, if there was one, after all others.
 */
function sessionRecords(records: BashRecord[], feed: Surroundings): BashRecord[] {
  if (feed.env.length === 0) return records;
  const byName = Map.groupBy(records, ({ name }) => name);
  const isMadeReadonly = ({ name, flags }: BashRecord) =>
    flags.includes("r") && parts.isGiven(name, feed) && !attributesOf(name, feed.state).includes("r");
  return [...byName.values()].flatMap(([first, ...saved]) => (isMadeReadonly(first!) ? saved : [first!]));
}
