// What bash reads before the user's command: the startup programs, and the parts of a prologue that prepare the state
// report at the end of the shell.
import { constants } from "node:os";
import { type ByteString, fromText, quote } from "../../../process/byte-string.ts";
import { inPlaceWords, type ShellBoot } from "../dialect.ts";
import { fileWord } from "../script-parts.ts";
import { shellProgram } from "../shell-program.ts";
import bootText from "./boot.sh" with { type: "text" };
import hideReportText from "./hide-report.sh" with { type: "text" };
import inPlaceRunsText from "./in-place-runs.sh" with { type: "text" };
import reportText from "./report.sh" with { type: "text" };
import trapWrapperText from "./trap-wrapper.sh" with { type: "text" };

const boot = shellProgram(bootText);
const reportProgram = shellProgram(reportText);
const inPlaceRuns = shellProgram(inPlaceRunsText);
const hideReportProgram = shellProgram(hideReportText);
const trapWrapperProgram = shellProgram(trapWrapperText);

/** Messages of bash begin with the name of the script: ".../bash: line 1: ...". */
export const commandFile = "bash";
export const bootFile = "boot";

/** Text of the EXIT trap. The braces hide the trap from the user's DEBUG trap and `set -x`. */
const hook = '{ __trl_report "$?" "$@"; } >/dev/null 2>&1';
/** The same without braces, for a session that has aliases named `{` or `}`: bash expands them as it reads a trap. */
const bareHook = '\\__trl_report "$?" "$@" >/dev/null 2>&1';

/** The report silences the handlers of these signals. bash looks up numbers faster than names; libc reserves 32 and 33. */
const signals = Array.from({ length: 64 }, (_, index) => index + 1)
  .filter((signal) => signal !== constants.signals.SIGXFSZ && signal !== 32 && signal !== 33)
  .join(" ");

export function bootScript(dir: string, { isLean, runsInPlace }: ShellBoot = {}): ByteString {
  return boot({
    REPORT: isLean ? "" : report(dir),
    IN_PLACE_RUNS: runsInPlace ? takeInPlaceRuns(dir) : "",
    COPY_FILE: fileWord(dir, "copy"),
  });
}

const report = (dir: string): ByteString =>
  reportProgram({
    HOOK: hook,
    SIGNALS: signals,
    REPORT_FILE: fileWord(dir, "report"),
    HANDLERS_FILE: fileWord(dir, "handlers"),
    ENV_FILE: fileWord(dir, "savedEnv"),
    FUNCTIONS_FILE: fileWord(dir, "functions"),
  });

const takeInPlaceRuns = (dir: string): ByteString =>
  inPlaceRuns({
    COMMAND_FILE: quote(fromText(`${dir}/${commandFile}`)),
    NO_MORE_RUNS: inPlaceWords.none,
    RUN_AND_LIST: inPlaceWords.runAndList,
  });

/** Replaces the hook for a command that can change only the directory and the given variables. */
export function reportPart(dir: string, variables: readonly string[]): ByteString {
  const values = variables.length > 0 ? `builtin declare -p ${variables.join(" ")}; ` : "";
  const fields = `builtin printf "\\0"; builtin pwd; builtin printf "\\0%s\\0" "\${OLDPWD-}"; ${values}builtin printf "\\0part"`;
  const report = `builtin trap "" XFSZ; { ${fields}; } >|${fileWord(dir, "report")}`;
  return `builtin trap ${quote(`[[ \${BASHPID-$$} != "$$" ]] || { ${report}; } 2>/dev/null`)} EXIT\n`;
}

export function hideReport(dir: string): ByteString {
  const file = fileWord(dir, "hook");
  return hideReportProgram({ HOOK_FILE: file, QUOTED_HOOK_FILE: quote(file) });
}

export const trapBareHook: ByteString = `builtin trap '${bareHook}' EXIT\n`;

export const trapWrapper = (isBare: boolean): ByteString =>
  trapWrapperProgram({ HOOK: isBare ? bareHook : hook });
