// From the parameters of session.create to a session that is ready for its first command.
import { accessSync, constants, statSync } from "node:fs";
import { TrlError } from "../../protocol/errors.ts";
import type { CreateParams } from "../../protocol/session.ts";
import type { CommandStore } from "../exec/command-store.ts";
import { requireDirectory } from "../exec/directories.ts";
import { type Env, inheritedEnv, overlayEnv } from "../exec/environment.ts";
import type { Executor } from "../exec/executor.ts";
import { PlainExecutor } from "../exec/plain-executor.ts";
import { dialectOf } from "../exec/shell/pick.ts";
import { StatefulExecutor } from "../exec/stateful-executor.ts";
import type { Log } from "../log.ts";
import type { CoreOptions } from "../options.ts";
import { type Custody, tagNames } from "../process/custody.ts";
import { Session } from "./session.ts";

const defaultWorkingDir = "/tmp";

export interface SessionContext {
  options: CoreOptions;
  commands: CommandStore;
  custody: Custody;
  log: Log;
  newShellDir: () => string;
}

export function createSession(id: string, params: CreateParams, context: SessionContext): Session {
  refuseWhatIsNotHere(params);
  const { options, commands, custody, log } = context;
  const shell = resolveShell(params.shell ?? options.defaultShell, options.env);
  return new Session({
    id,
    name: params.name ?? null,
    shell,
    timeoutS: params.timeout_s ?? options.defaultTimeoutS,
    idleTimeoutS: params.idle_timeout_s ?? options.maxIdleS,
    maxCommands: options.sessionMaxCommands,
    maxOutputBytes: options.maxOutputBytes,
    executor: createExecutor(id, shell, params, context),
    commands,
    custody,
    log,
  });
}

function createExecutor(id: string, shell: string, params: CreateParams, context: SessionContext): Executor {
  const { options, custody, newShellDir } = context;
  const dialect = params.stateful === false ? undefined : dialectOf(shell);
  const common = {
    sessionId: id,
    shell,
    env: overlayEnv(inheritedEnv(options.env, params.inherit_env ?? "all"), params.env ?? {}),
    tags: { [tagNames.session]: id, [tagNames.daemon]: options.daemonTag },
    workingDir: requireDirectory(params.working_dir ?? defaultWorkingDir, undefined),
    custody,
  };
  return dialect ? new StatefulExecutor({ ...common, dialect, newShellDir }) : new PlainExecutor(common);
}

/** Never a silent downgrade: what was asked for and cannot be done is said. */
function refuseWhatIsNotHere({ isolation, runtime }: CreateParams): void {
  if (isolation && Object.keys(isolation).length > 0) {
    throw new TrlError("UNSUPPORTED", "isolation: this version runs sessions without isolation");
  }
  if (runtime !== undefined && runtime !== "host") {
    throw new TrlError(
      "RUNTIME_NOT_FOUND",
      `runtime: "${runtime}" is not known here; this version has "host" only`,
    );
  }
}

/** A path as it is, or a name to be found on the daemon's PATH. */
function resolveShell(given: string | undefined, env: Env): string {
  const PATH = env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin";
  if (given === undefined) return Bun.which("bash", { PATH }) ?? "/bin/sh";
  const path = given.includes("/") ? given : Bun.which(given, { PATH });
  if (path === null || !isExecutableFile(path)) {
    throw new TrlError("INVALID_PARAMS", `shell: no such program: ${given}`);
  }
  return path;
}

function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
