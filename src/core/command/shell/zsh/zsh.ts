// zsh runs the command as a script file, as bash does. The machinery is the startup file .zshenv of a private
// ZDOTDIR, with a hook on EXIT (which `set -e` reaches) and another (which no trap of the user can replace).
import { type ByteString, quote } from "../../../process/byte-string.ts";
import type { CommandFeed, ReportedState, ShellDialect, ShellState } from "../dialect.ts";
import * as parts from "../script-parts.ts";
import { shellProgram } from "../shell-program.ts";
import bootText from "./boot.zsh" with { type: "text" };

const boot = shellProgram(bootText);

const commandFile = "zsh";
const source = "builtin .";
const words = { builtin: "builtin", command: "builtin command", exit: "builtin exit" };
const neverKept = [
  "exec",
  "singlecommand",
  "interactive",
  "shinstdin",
  "login",
  "privileged",
  "restricted",
].concat(["monitor", "rcs", "globalrcs", "zle"]);
const late = ["errexit", "errreturn", "xtrace", "verbose", "allexport"];

export const zsh: ShellDialect = {
  commandFile,
  bootFile: ".zshenv",
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
    const options = parts.optionChanges(on0.split(":"), on.split(":"), neverKept);
    const isLate = (name: string) => late.includes(name);
    return {
      workingDir: parts.directoryAfter(pwd, context),
      previousDir: oldpwd === "" ? undefined : oldpwd,
      script:
        `setopt no_aliases\n${parts.unsetLines(context.launchEnv, new Set(names.split("\n")))}` +
        `${variables}\n${rest}\n` +
        list(
          "setopt",
          options.on.filter((name) => !isLate(name)),
        ) +
        list(
          "unsetopt",
          options.off.filter((name) => name !== "aliases"),
        ) +
        parts.defineFunctions(functions),
      // One line, read before the first of them acts on the reading of lines.
      lateScript: dirstack + list("builtin setopt", [...options.on.filter(isLate), ...aliasesIf(on)]),
      exportedNames: exported.split("\n").filter(Boolean).sort(),
    };
  },
};

type Fields = [string, string, string, string, string, string, string, string, string, string];

function prologue(feed: CommandFeed, dir: string): ByteString {
  const savedEnv = parts.fileWord(dir, "savedEnv");
  // What is read-only stays as it is, and must not be touched. A name may be too long for one of a file.
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
    lateScript +
    (keepsStatus ? `{ builtin return ${lastStatus}; } 2>/dev/null\n` : "")
  );
}

/**
 * What is read-only stays as it is. What is no plain text in the session is none for programs, or another: it is made
 * anew. One that cannot be given keeps no other from it. The session's options are set already: no groups of patterns, and
 * none of commands on one line.
 */
function applyEnv(feed: CommandFeed): ByteString {
  const lines = feed.env.map(([name, value]) => {
    const unset = `builtin unset -v ${name}`;
    if (value === null) return `case \${parameters[${name}]-} in *readonly*) ;; *) ${unset};; esac\n`;
    const set = `builtin eval ${quote(`builtin export ${name}=${quote(value)}`)}`;
    return `case \${parameters[${name}]-} in *readonly*) ;; *special*) ${set};; ${otherKinds}) ${unset}; ${set};; *) ${set};; esac\n`;
  });
  // With that option on, a failure would end the shell.
  const before = "__trl_posix=${options[posixbuiltins]}\nbuiltin unsetopt posix_builtins\n";
  const after = "case $__trl_posix in on) builtin setopt posix_builtins;; esac\n";
  const own = lines.length > 0 ? `${before}{\n${lines.join("")}} 2>/dev/null\n${after}` : "";
  return own + parts.applyEnv({ ...feed, env: [] }, "builtin");
}

const otherKinds = "*array*|*association*|*integer*|*float*|*lower*|*upper*|*left*|*right*";

/** `cd -` goes by where zsh was, not by OLDPWD; -q: no hooks of the user's on the way. */
function quietly(script: ByteString, { previousDir }: ShellState): ByteString {
  const before = previousDir === undefined ? "" : `builtin cd -q -- ${quote(previousDir)} 2>/dev/null\n`;
  return before + script.replaceAll("builtin cd --", "builtin cd -q --");
}

function moveToDirectory(feed: CommandFeed, dir: string): ByteString {
  const script = parts.moveToDirectory(feed, dir, words);
  return feed.place === "here" ? script : quietly(script, feed.state);
}

const aliasesIf = (on: string) => (on.split(":").includes("aliases") ? ["aliases"] : []);

const list = (command: string, names: string[]) =>
  names.length > 0 ? `${command} ${names.join(" ")}\n` : "";
