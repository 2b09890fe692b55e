// The short-reports accelerator: bash reports nothing after a command that cannot change its state, and only the
// directory and some variables after one that can change no more. A whole report costs as much as a small command.
import type { ReportPlanner } from "../../core/command/runners/accelerators.ts";
import { bash } from "../../core/command/shell/bash/bash.ts";
import type { CommandFeed, ExecScript, ReportPlan, ShellDialect } from "../../core/command/shell/dialect.ts";
import { leavesSession, shadowedBuiltins } from "../analysis/programs.ts";
import { simpleCommands } from "../analysis/simple-commands.ts";
import { changeOf } from "../analysis/state-changes.ts";

export const reportPlanner = (dialect: ShellDialect): ReportPlanner | undefined =>
  dialect === bash ? reportPlan : undefined;

export function reportPlan(feed: CommandFeed): ReportPlan {
  const change = changeOf(feed);
  if (change === "anything") return { report: "whole" };
  const { directory, variables } = change;
  if (!directory && variables.length === 0) {
    const exec = execScript(feed);
    return { report: "none", ...(exec && { exec }) };
  }
  const isUsual = feed.place === "here" && feed.env.length === 0 && !/^alias /m.test(feed.state.script);
  return isUsual ? { report: "part", variables } : { report: "whole" };
}

/** An SHLVL that is not a number, aliases, and a function named `exec`. */
const unusual = /^(?!declare -x SHLVL="\d+"$).*SHLVL|^alias |(?:^|['\s])exec \(\)/m;

/** `exec` counts SHLVL down by one; the program has the same depth either way. */
const raiseShlvl = "SHLVL=$((SHLVL+1))\n";

/**
 * Makes the shell exec the command's program, as `bash -c` does, which saves a fork; undefined where the command is more
 * than one program. The script is one line, so that line numbers in messages stay the same. A program that is not found
 * runs without `exec`, so that the message is the usual one.
 */
export function execScript({ command, state }: CommandFeed): ExecScript | undefined {
  const [first, ...more] = simpleCommands(command) ?? [];
  const [program] = first?.words ?? [];
  if (program === undefined || more.length > 0 || first!.separator !== "") return undefined;
  if (leavesSession.test(command) || /[=$]/.test(program)) return undefined;
  if (command.includes("$(")) return undefined; // a substitution may read `$?` or SHLVL, which differ here
  if (shadowedBuiltins.has(program) || program.startsWith("-") || unusual.test(state.script))
    return undefined;
  const isPath = program.startsWith("/");
  if (!isPath && program.includes("/")) return undefined; // its argv[0] would become the whole path
  const isFound = isPath ? `[[ -f ${program} && -x ${program} ]]` : `builtin hash ${program} 2>/dev/null`;
  const path = isPath ? program : `\${BASH_CMDS[${program}]}`;
  const file = `if ${isFound}; then _=${path} exec ${command}; else ${command}; fi\n`;
  return { file, prologueEnd: raiseShlvl };
}
