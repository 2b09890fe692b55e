// The prologue of a command for bash: the last lines before the command, read from descriptor 4. It sets the directory,
// the variables and functions of this command, and prepares the state report.
import { type ByteString, fromText, quote } from "../../../process/byte-string.ts";
import type { CommandFeed, ReportPlan, ShellState } from "../dialect.ts";
import * as parts from "../script-parts.ts";
import { bootFile, hideReport, reportPart, trapBareHook, trapWrapper } from "./boot.ts";
import { attributesOf } from "./environment.ts";
import { functionLines } from "./functions.ts";
import { valueChangingFlags } from "./records.ts";

/** Aliases work from the user's first line on, as in a terminal, and not earlier: trl's own lines must not meet any. */
export const aliasesOn: ByteString = "builtin shopt -s expand_aliases\n";

export const hasAliases = ({ script }: ShellState): boolean => /^alias /m.test(script);

const words = { builtin: "builtin", command: "builtin command", exit: "builtin exit" };

/** Tables of the shell: assigning text to one adds an entry to it, and programs do not get it. */
const tables = /^BASH_(?:ALIASES|CMDS)$/;

export function prologue(given: CommandFeed, dir: string, plan: ReportPlan): ByteString {
  // The command keeps the session's value of a readonly variable.
  const isSettable = (name: ByteString) =>
    !tables.test(name) && !attributesOf(name, given.state).includes("r");
  const feed = { ...given, env: given.env.filter(([name]) => isSettable(name)) };
  const { lateScript } = feed.state;
  return (
    closeDescriptors(feed) +
    parts.moveToDirectory(feed, dir, words) +
    withoutAttributes(feed) +
    (plan.report === "whole" ? saveEnv(feed, dir) : "") +
    // An assignment to a reference would set and export the variable that it refers to.
    parts.commandLine("builtin unset -n", givenNames(feed, /n/)) +
    // Programs do not get arrays.
    parts.commandLine("builtin unset -v", givenNames(feed, /[aA]/)) +
    parts.applyEnv(feed, "builtin") +
    parts.beginLine(`${dir}/${bootFile}`, words) +
    guardReport(feed, dir, plan) +
    defineGivenFunctions(feed) +
    (lateScript === aliasesOn && !hasAliases(feed.state) ? "" : lateScript) +
    setLastStatus(feed)
  );
}

/** Sets `$?` only if the command reads it: otherwise a syntax error would end with this status instead of its own. */
function setLastStatus(feed: CommandFeed): ByteString {
  const { lastStatus, lateScript } = feed.state;
  if (lastStatus === 0 || !feed.command.includes("$?")) return "";
  if (lateScript.includes("errexit") || mayHideBuiltin(feed)) return "";
  const setStatus = `\\builtin return ${lastStatus}`;
  return `${mayAliasBraces(feed) ? setStatus : `{ ${setStatus}; }`} 2>/dev/null\n`;
}

/** A function named `builtin` comes last, because it hides the words that define the others. */
function defineGivenFunctions({ functions }: CommandFeed): ByteString {
  const sorted = functions.toSorted(([a], [b]) => Number(a === "builtin") - Number(b === "builtin"));
  const definitions = sorted.map(([name, body]) => `builtin eval ${quote(functionLines(name, body))}`);
  return definitions.map((line) => `${line} >/dev/null 2>&1\n`).join("");
}

/** Variables of this command that have one of the attributes in the session; the command gets them as plain text. */
const givenNames = (feed: CommandFeed, attributes: RegExp): string[] =>
  feed.env.map(([name]) => name).filter((name) => attributes.test(attributesOf(name, feed.state)));

/** One line for each attribute: bash 3.2 has integers only. */
const withoutAttributes = (feed: CommandFeed): ByteString =>
  ["i", "l", "u"]
    .map((flag) => parts.commandLine(`builtin declare +${flag}`, givenNames(feed, new RegExp(flag))))
    .join("");

/** Saves the session's values of the variables and functions of this command: the report contains these. */
function saveEnv(feed: CommandFeed, dir: string): ByteString {
  if (feed.env.length === 0 && feed.functions.length === 0) return "";
  const names = feed.env.map(([name]) => name).join(" ") || "__trl_none";
  const saved = parts.fileWord(dir, "savedEnv");
  const attributeLines = givenNames(feed, /[ilu]/).map((name) => {
    const flags = valueChangingFlags(attributesOf(name, feed.state));
    return `builtin printf 'declare -${flags} ${name}\\n' >>${saved}\n`;
  });
  return `__trl_env=(${names})\nbuiltin declare -p ${names} >|${saved} 2>/dev/null\n${attributeLines.join("")}${saveFunctions(feed, saved)}`;
}

function saveFunctions({ functions }: CommandFeed, saved: ByteString): ByteString {
  if (functions.length === 0) return "";
  const save = (name: ByteString) =>
    `builtin declare -f ${name} && builtin printf 'builtin ' && builtin declare -pF ${name}\n`;
  const names = functions.map(([name]) => quote(fromText(name)));
  return `__trl_functions=(${names.join(" ")})\n{\n${names.map(save).join("")}} >>${saved} 2>/dev/null\n`;
}

/** Sets what the report function needs for this command, or replaces it by a smaller report. */
function guardReport(feed: CommandFeed, dir: string, plan: ReportPlan): ByteString {
  if (plan.report === "none") return "builtin trap - EXIT\n";
  if (plan.report === "part") return reportPart(dir, plan.variables);
  const isBare = mayAliasBraces(feed);
  const wrapsTrap = parts.maySetExitTrap(feed);
  return (
    (isBare ? trapBareHook : "") +
    (wrapsTrap ? trapWrapper(isBare) : "") +
    (mayHideBuiltin(feed) ? "__trl_hides_builtin=1\n" : "") +
    (mayUseDirectoryStack(feed) ? "__trl_stacks=1\n" : "") +
    (mayDefineFunctions(feed) ? "__trl_lines=1\n" : "") +
    (mayList(feed) && !isBare && !wrapsTrap && !mayHideBuiltin(feed) ? hideReport(dir) : "")
  );
}

/** Whether the command may print the names or texts of all functions or variables. */
const mayList = ({ command }: CommandFeed) =>
  /\bcompgen\b|\b(?:declare|typeset)\s+-\w*[fFp]|\b(?:set|declare|typeset)\s*(?:$|[|;&>)`\n])/.test(command);

/** If it is false, the line numbers of functions are unchanged. */
const mayDefineFunctions = ({ command }: CommandFeed) =>
  /\(\s*\)|\b(?:function|source|eval)\b|(?:^|[\s;&|({])\.\s/.test(command);

/** Reading DIRSTACK is slow, and few sessions have a directory stack. */
const mayUseDirectoryStack = ({ command, state }: CommandFeed) =>
  /\b(?:pushd|popd|dirs|DIRSTACK|source)\b|(?:^|[\s;&|({])\.\s/.test(command) ||
  /\bpushd\b/.test(state.script);

/** Only a function named `builtin` can hide the builtins from trl's code. It lasts for one command. */
const mayHideBuiltin = ({ command, functions }: CommandFeed) =>
  /\bbuiltin\s*\(\s*\)|\bfunction\s+builtin\b/.test(command) ||
  functions.some(([name]) => name === "builtin");

/** Two patterns, because one for both words would search for a brace after every `alias`, in quadratic time. */
const mayAliasBraces = ({ command, state }: CommandFeed) =>
  (/\balias\b/.test(command) && /[\s'"\\][{}]['"]?=/.test(command)) ||
  /\bBASH_ALIASES\[['"\\]?[{}]/.test(command) ||
  /^alias (?:-- )?[{}]=/m.test(state.script);

/**
 * bash undoes the redirections of `builtin exec` after it, so the line must begin with `exec`, which a function can hide.
 * In posix mode it cannot; but that mode leaves an option behind, so it is used only if there is such a function.
 */
function closeDescriptors(feed: CommandFeed): ByteString {
  const exec = `exec ${parts.descriptors(feed)} 6>&-\n`;
  if (!/^exec \(\)|'exec \(\)/m.test(feed.state.script)) return exec;
  const restore = "[[ $__trl_shopt == *inherit_errexit* ]] || builtin shopt -u inherit_errexit\n";
  return `__trl_shopt=$BASHOPTS\nPOSIXLY_CORRECT=\n${exec}unset POSIXLY_CORRECT\n${restore}`;
}
