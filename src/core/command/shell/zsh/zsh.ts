// The dialect of zsh, which runs the command as a script file, as bash does. trl's own code is the startup program
// (boot.zsh, the .zshenv of a private ZDOTDIR) with its hooks at the end of the shell, which write the state report.
import { type ByteString, quote } from "../../../process/byte-string.ts";
import type { CommandFeed, ReportedState, ShellDialect, ShellState } from "../dialect.ts";
import * as parts from "../script-parts.ts";
import { shellProgram } from "../shell-program.ts";
import bootText from "./boot.zsh" with { type: "text" };

const boot = shellProgram(bootText);

const commandFile = "zsh";
const bootFile = ".zshenv";
const source = "builtin .";
const words = { builtin: "builtin", command: "builtin command", exit: "builtin exit" };
/** Options that describe how one shell was started; with some of them restored, a session could never run a command. */
const optionsNotRestored =
  "exec singlecommand interactive shinstdin login privileged restricted monitor rcs globalrcs zle".split(" ");
/** Options that act on the lines after them, so they come last. */
const lateOptions = ["errexit", "errreturn", "xtrace", "verbose", "allexport"];

export const zsh: ShellDialect = {
  commandFile,
  bootFile,
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

  bootScript: (dir) =>
    boot({ REPORT_FILE: parts.fileWord(dir, "report"), ENV_FILE: parts.fileWord(dir, "savedEnv") }),
  stateScript: (state) => state.script + quietly(parts.waitInDirectory(state, "builtin"), state),
  commandScript: (feed, dir) => ({ file: feed.command, prologue: prologue(feed, dir) }),

  readReport(report, context): ReportedState | undefined {
    const fields = parts.reportFields(report, 10);
    if (!fields) return undefined;
    const [pwd, oldpwd, on0, on, names, exported, variables, dirstack, rest, functions] = fields as Fields;
    const options = parts.optionChanges(on0.split(":"), on.split(":"), optionsNotRestored);
    const isLate = (name: string) => lateOptions.includes(name);
    return {
      workingDir: parts.directoryAfter(pwd, context),
      previousDir: oldpwd === "" ? undefined : oldpwd,
      script:
        `setopt no_aliases\n${parts.unsetLines(context.launchEnv, new Set(names.split("\n")))}` +
        `${variables}\n${rest}\n` +
        parts.commandLine(
          "setopt",
          options.on.filter((name) => !isLate(name)),
        ) +
        parts.commandLine(
          "unsetopt",
          options.off.filter((name) => name !== "aliases"),
        ) +
        parts.defineFunctions(functions),
      // One line, which zsh has parsed before the first option acts on the parsing of lines.
      lateScript:
        dirstack + parts.commandLine("builtin setopt", [...options.on.filter(isLate), ...aliasesIf(on)]),
      exportedNames: exported.split("\n").filter(Boolean).sort(),
    };
  },
};

type Fields = [string, string, string, string, string, string, string, string, string, string];

function prologue(feed: CommandFeed, dir: string): ByteString {
  const savedEnv = parts.fileWord(dir, "savedEnv");
  // Readonly variables stay as they are. Files are numbered, because a variable's name may be too long for a file name.
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
    parts.beginLine(`${dir}/${bootFile}`, words) +
    lateScript +
    (keepsStatus ? `{ builtin return ${lastStatus}; } 2>/dev/null\n` : "")
  );
}

/**
 * Sets and unsets the variables of this command; readonly ones stay as they are. A variable that the session has with a
 * type other than plain text is unset first, because programs would not get it, or get another value. Each has an `eval`
 * of its own, so that one failure does not affect the others. The session's options are set already, so the lines use
 * neither groups of patterns nor groups of commands on one line.
 */
function applyEnv(feed: CommandFeed): ByteString {
  const lines = feed.env.map(([name, value]) => {
    const unset = `builtin unset -v ${name}`;
    if (value === null) return `case \${parameters[${name}]-} in *readonly*) ;; *) ${unset};; esac\n`;
    const set = `builtin eval ${quote(`builtin export ${name}=${quote(value)}`)}`;
    return `case \${parameters[${name}]-} in *readonly*) ;; *special*) ${set};; ${otherKinds}) ${unset}; ${set};; *) ${set};; esac\n`;
  });
  // With posix_builtins on, a failure of `export` would end the shell.
  const before = "__trl_posix=${options[posixbuiltins]}\nbuiltin unsetopt posix_builtins\n";
  const after = "case $__trl_posix in on) builtin setopt posix_builtins;; esac\n";
  const own = lines.length > 0 ? `${before}{\n${lines.join("")}} 2>/dev/null\n${after}` : "";
  return own + parts.applyEnv({ ...feed, env: [] }, "builtin");
}

/** Types of variables that are not plain text, as `parameters` describes them. */
const otherKinds = "*array*|*association*|*integer*|*float*|*lower*|*upper*|*left*|*right*";

/** `cd -` uses zsh's own record of the previous directory, not OLDPWD; -q skips the user's chpwd hooks. */
function quietly(script: ByteString, { previousDir }: ShellState): ByteString {
  const before = previousDir === undefined ? "" : `builtin cd -q -- ${quote(previousDir)} 2>/dev/null\n`;
  return before + script.replaceAll("builtin cd --", "builtin cd -q --");
}

function moveToDirectory(feed: CommandFeed, dir: string): ByteString {
  const script = parts.moveToDirectory(feed, dir, words);
  return feed.place === "here" ? script : quietly(script, feed.state);
}

const aliasesIf = (on: string) => (on.split(":").includes("aliases") ? ["aliases"] : []);
