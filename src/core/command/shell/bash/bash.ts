// The dialect of bash. bash runs the command as a script file, so that `set -x`, ERR traps, line numbers and `return`
// behave as in a script; an `eval` would show as "++" and fire ERR twice. trl's own code is the startup program
// (BASH_ENV, boot.sh), which ends before the script begins, and a hook on EXIT, which writes the state report.
import { fromText, quote } from "../../../process/byte-string.ts";
import type { ShellDialect } from "../dialect.ts";
import { defineFunctions, exportLine, waitInDirectory } from "../script-parts.ts";
import { bootFile, bootScript, commandFile } from "./boot.ts";
import { defineHelper, functionIn, functionLines } from "./functions.ts";
import { aliasesOn, hasAliases, prologue } from "./prologue.ts";
import { changedVariables, readReport } from "./report.ts";

/** Variables that must not reach the next shell by its environment: trl restores them, or they change how bash starts. */
const notInherited = /^(?:BASH_ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|POSIXLY_CORRECT)$/;

export const bash: ShellDialect = {
  commandFile,
  bootFile,
  source: "builtin .",
  functionIn,
  withVariables: changedVariables,

  launch: (shell, dir) => ({
    argv: [shell, `${dir}/${commandFile}`],
    env: { BASH_ENV: `${dir}/${bootFile}` },
  }),

  initialState(env) {
    const launchEnv = Object.fromEntries(Object.entries(env).filter(([name]) => !notInherited.test(name)));
    // A function named `builtin` would hide every builtin from trl's code, so it lasts for one command at most.
    const functions = Object.entries(env).flatMap(([name, value]) => {
      const given = functionIn(name, value);
      return given && given !== "builtin" ? defineFunctions(functionLines(given, fromText(value))) : [];
    });
    const startup = env["BASH_ENV"] === undefined ? "" : exportLine("BASH_ENV", env["BASH_ENV"]);
    return { launchEnv, script: startup + functions.join(""), lateScript: aliasesOn };
  },

  bootScript,

  stateScript(state) {
    // Without any alias, alias expansion cannot change the lines of the prologue, so it is switched on ahead.
    const aliases = state.lateScript === aliasesOn && !hasAliases(state) ? aliasesOn : "";
    const helper = state.script.includes("__trl_define") ? defineHelper : "";
    // Set first, so that it stays set if a later line fails before the shell has changed its directory.
    const astray = `__trl_astray=${quote(state.workingDir)}\n`;
    return `${helper}${astray}${state.script}${waitInDirectory(state, "builtin")}${aliases}`;
  },

  commandScript(feed, dir, plan = { report: "whole" }) {
    const exec = plan.report === "none" ? plan.exec : undefined;
    return {
      file: exec?.file ?? feed.command,
      prologue: prologue(feed, dir, plan) + (exec?.prologueEnd ?? ""),
    };
  },

  readReport,
};
