// From the parameters of session.create to a session that is ready for its first command.
import { TrlError } from "../../protocol/errors.ts";
import type { CreateParams } from "../../protocol/session.ts";
import type { CommandStore } from "../exec/command-store.ts";
import { requireDirectory } from "../exec/directories.ts";
import { inheritedEnv, overlayEnv } from "../exec/environment.ts";
import type { Executor } from "../exec/executor.ts";
import { PlainExecutor } from "../exec/plain-executor.ts";
import { dialectOf } from "../exec/shell/pick.ts";
import { StatefulExecutor } from "../exec/stateful-executor.ts";
import type { Log } from "../log.ts";
import type { CoreOptions } from "../options.ts";
import { type Custody, tagNames } from "../process/custody.ts";
import { defaultWorkingDir, resolveShell } from "./placement.ts";
import { Session } from "./session.ts";

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
function refuseWhatIsNotHere({ isolation }: CreateParams): void {
  if (isolation && Object.keys(isolation).length > 0) {
    throw new TrlError("UNSUPPORTED", "isolation: this version runs sessions without isolation");
  }
}
