// From the parameters of pty.create to a terminal with a running program.
import { statSync } from "node:fs";
import { TrlError } from "../../protocol/errors.ts";
import type { CreateParams, DriverName } from "../../protocol/pty.ts";
import { sessionPathsOf } from "../command/session-paths.ts";
import { shownText } from "../command/store.ts";
import { resolveShell, workingDirIn } from "../command/working-dir.ts";
import { inheritedEnv, mergePolicy } from "../isolation/env-policy.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
import { type Env, overlayEnv } from "../process/environment.ts";
import type { ProcessOwnership } from "../process/ownership.ts";
import { tagNames } from "../process/tags.ts";
import type { CoreOptions } from "../session/options.ts";
import { bunPtyDriver } from "./drivers/bun-pty.ts";
import type { PtyDriver } from "./drivers/driver.ts";
import { nativeDriver } from "./drivers/native.ts";
import type { Screens } from "./screen/screens.ts";
import { requireSize } from "./size-policy.ts";
import { Terminal } from "./terminal.ts";

export const drivers: Record<DriverName, PtyDriver> = { native: nativeDriver, "bun-pty": bunPtyDriver };

/** Measured side by side (bench/), its echo is twenty times as quick, and its idle terminals cost a tenth. */
export const autoDriver: DriverName = "native";

const defaultSize = { cols: 80, rows: 24 };

/** What another terminal has left in the daemon's environment does not hold in this one. */
const ofAnotherTerminal =
  "LINES COLUMNS TMUX TMUX_PANE STY WINDOW WINDOWID VTE_VERSION TERM_PROGRAM TERM_PROGRAM_VERSION TERM_SESSION_ID".split(
    " ",
  );

interface TerminalContext {
  options: CoreOptions;
  ownership: ProcessOwnership;
  screens: Screens;
  mayKeep: (bytes: number) => boolean;
}

export function createTerminal(
  id: string,
  params: CreateParams,
  { options, ownership, screens, mayKeep }: TerminalContext,
  sessionIsolation: SessionIsolation | undefined,
): Terminal {
  const shell = shellOf(params, options);
  const env = terminalEnv(id, params, options, sessionIsolation);
  const workingDir = sessionPathsOf(sessionIsolation).require(
    params.working_dir ?? workingDirIn(sessionIsolation),
    undefined,
  );
  const plain = argvOf(params, shell, env, workingDir);
  const { argv, cwd } = sessionIsolation?.wrap(plain, { workingDir }) ?? { argv: plain, cwd: workingDir };
  const { cols = defaultSize.cols, rows = defaultSize.rows } = params;
  requireSize({ cols, rows });
  const name = params.driver === undefined || params.driver === "auto" ? options.ptyDriver : params.driver;
  return new Terminal({
    id,
    name: params.name ?? null,
    shell,
    command:
      params.command === undefined ? null : shownText([params.command, ...(params.args ?? [])].join(" ")),
    driver: drivers[name === "auto" ? autoDriver : name],
    workingDir,
    idleTimeoutS: params.idle_timeout_s ?? 0,
    maxAgeS: params.max_age_s ?? options.sessionTtlS,
    sessionIsolation,
    pty: {
      argv,
      env,
      daemonVariables: Object.keys(options.env),
      workingDir: cwd,
      readsDirectly: options.accelerators.readsDirectly,
      cols,
      rows,
    },
    ownership,
    screens,
    mayKeep,
  });
}

export const shellOf = ({ shell, isolation }: CreateParams, { defaultShell, env }: CoreOptions): string =>
  resolveShell(shell ?? defaultShell, env, isolation?.root);

function terminalEnv(
  id: string,
  params: CreateParams,
  options: CoreOptions,
  sessionIsolation: SessionIsolation | undefined,
): Env {
  const daemons = inheritedEnv(options.env, mergePolicy(options.envPolicy, params));
  const inherited = sessionIsolation?.withTmpDir(daemons) ?? daemons;
  for (const name of ofAnotherTerminal) delete inherited[name];
  const own = { ...inherited, TERM: "xterm-256color", COLORTERM: "truecolor", TERM_PROGRAM: "trl" };
  const tags = { [tagNames.session]: id, [tagNames.daemon]: options.daemonTag };
  return { ...overlayEnv(own, params.env ?? {}), ...tags };
}

/** With arguments the command is a program, without it is a line for the shell; neither is the shell itself. */
function argvOf(
  { command, args, isolation }: CreateParams,
  shell: string,
  env: Env,
  cwd: string,
): [string, ...string[]] {
  if (command === undefined) {
    if (args) throw new TrlError("INVALID_PARAMS", "command: expected the program that the args are for");
    return [shell];
  }
  if (!args) return [shell, "-c", command];
  // In another root it is looked for by those who start it there.
  if (isolation?.root && isolation.root !== "/") return [command, ...args];
  const program = Bun.which(command, { PATH: env["PATH"] ?? "/usr/bin:/bin", cwd });
  if (program && statSync(program, { throwIfNoEntry: false })?.isFile()) return [program, ...args];
  throw new TrlError("SPAWN_FAILED", `there is no program ${command.slice(0, 200)} that can be started`);
}
