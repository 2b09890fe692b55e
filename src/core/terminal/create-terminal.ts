// Creates a terminal: from the parameters of pty.create, or from the state that the daemon before an upgrade saved.
import { statSync } from "node:fs";
import { TrlError } from "../../protocol/errors.ts";
import type { CreateParams, DriverName } from "../../protocol/pty.ts";
import { sessionPathsOf } from "../command/session-paths.ts";
import { shownText } from "../command/store.ts";
import { resolveShell, workingDirIn } from "../command/working-dir.ts";
import { inheritedEnv, mergePolicy } from "../isolation/env-policy.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
import type { EnvPolicy } from "../options.ts";
import { type Env, overlayEnv } from "../process/environment.ts";
import { tagNames } from "../process/tags.ts";
import { bunPtyDriver } from "./drivers/bun-pty.ts";
import type { PtyDriver } from "./drivers/driver.ts";
import { nativeDriver } from "./drivers/native.ts";
import { requireSize } from "./size-policy.ts";
import type { RestoredTerminal, SharedServices } from "./start-program.ts";
import { Terminal } from "./terminal.ts";

export const drivers: Record<DriverName, PtyDriver> = { native: nativeDriver, "bun-pty": bunPtyDriver };

/** Measured side by side (bench/): its echo is twenty times as fast, and an idle terminal costs a tenth. */
export const autoDriver: DriverName = "native";

const defaultSize = { cols: 80, rows: 24 };

/** Variables that describe the terminal the daemon was started from. */
const foreignTerminalVariables =
  "LINES COLUMNS TMUX TMUX_PANE STY WINDOW WINDOWID VTE_VERSION TERM_PROGRAM TERM_PROGRAM_VERSION TERM_SESSION_ID".split(
    " ",
  );

/** The daemon's options that concern terminals. */
export interface TerminalOptions {
  /** The daemon's own environment. */
  env: Record<string, string>;
  envPolicy: EnvPolicy;
  daemonTag: string;
  defaultShell: string | undefined;
  ptyDriver: DriverName | "auto";
  sessionTtlS: number;
  accelerators: TerminalAccelerators;
}

/** Implementations of src/fast for terminals. */
export interface TerminalAccelerators {
  /** `direct-read`: the daemon reads terminals itself, where the system allows it. Plain: Bun reads them. */
  readsDirectly: boolean;
}

interface Identity {
  id: string;
  serial: number;
}

export function createTerminal(
  identity: Identity,
  params: CreateParams,
  options: TerminalOptions,
  services: SharedServices,
  sessionIsolation: SessionIsolation | undefined,
): Terminal {
  const shell = shellOf(params, options);
  const env = terminalEnv(identity.id, params, options, sessionIsolation);
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
    ...identity,
    ...services,
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
  });
}

/** A terminal that continues after an upgrade. */
export function restoreTerminal(
  serial: number,
  restored: RestoredTerminal,
  services: SharedServices,
  { accelerators: { readsDirectly } }: TerminalOptions,
  sessionIsolation: SessionIsolation | undefined,
): Terminal {
  const { id, name, shell, command, driver, workingDir, idleTimeoutS, maxAgeS, env, size } = restored.state;
  return new Terminal({
    ...{ id, serial, name, shell, command, workingDir, idleTimeoutS, maxAgeS, sessionIsolation },
    ...services,
    driver: drivers[driver],
    pty: { argv: [shell], env, daemonVariables: [], workingDir, readsDirectly, ...size },
    restored,
  });
}

export const shellOf = ({ shell, isolation }: CreateParams, { defaultShell, env }: TerminalOptions): string =>
  resolveShell(shell ?? defaultShell, env, isolation?.root);

function terminalEnv(
  id: string,
  params: CreateParams,
  options: TerminalOptions,
  sessionIsolation: SessionIsolation | undefined,
): Env {
  const allowed = inheritedEnv(options.env, mergePolicy(options.envPolicy, params));
  const inherited = sessionIsolation?.withTmpDir(allowed) ?? allowed;
  for (const name of foreignTerminalVariables) delete inherited[name];
  const own = { ...inherited, TERM: "xterm-256color", COLORTERM: "truecolor", TERM_PROGRAM: "trl" };
  const tags = { [tagNames.session]: id, [tagNames.daemon]: options.daemonTag };
  return { ...overlayEnv(own, params.env ?? {}), ...tags };
}

/** A command with `args` is a program, without them it is a shell command line; no command means the shell itself. */
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
  // In another root, the launcher inside that root looks the program up.
  if (isolation?.root && isolation.root !== "/") return [command, ...args];
  const program = Bun.which(command, { PATH: env["PATH"] ?? "/usr/bin:/bin", cwd });
  if (program && statSync(program, { throwIfNoEntry: false })?.isFile()) return [program, ...args];
  throw new TrlError("SPAWN_FAILED", `there is no program ${command.slice(0, 200)} that can be started`);
}
