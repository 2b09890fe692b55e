// From the parameters of session.create to a session that is ready for its first command.
import { TrlError } from "../../protocol/errors.ts";
import type { CreateParams } from "../../protocol/session.ts";
import type { CommandStore } from "../exec/command-store.ts";
import { type Env, overlayEnv } from "../exec/environment.ts";
import type { Executor } from "../exec/executor.ts";
import { placesOf } from "../exec/places.ts";
import { PlainExecutor } from "../exec/plain-executor.ts";
import { dialectOf } from "../exec/shell/pick.ts";
import type { SpareShells } from "../exec/spare-shells.ts";
import { StatefulExecutor } from "../exec/stateful-executor.ts";
import type { Enclosure } from "../isolation/enclosure.ts";
import { inheritedEnv, mergePolicy, nonInteractiveDefaults } from "../isolation/env-policy.ts";
import type { Log } from "../log.ts";
import type { CoreOptions } from "../options.ts";
import type { Custody } from "../process/custody.ts";
import { tagNames } from "../process/tags.ts";
import { workingDirIn } from "./placement.ts";
import { Session } from "./session.ts";

export interface SessionContext {
  options: CoreOptions;
  commands: CommandStore;
  custody: Custody;
  log: Log;
  newShellDir: () => string;
  spares: SpareShells;
  shell: string;
  enclosure: Enclosure | undefined;
}

export function createSession(id: string, params: CreateParams, context: SessionContext): Session {
  const { options, commands, custody, log, shell, enclosure } = context;
  return new Session({
    id,
    name: params.name ?? null,
    shell,
    timeoutS: params.timeout_s ?? options.defaultTimeoutS,
    idleTimeoutS: params.idle_timeout_s ?? options.maxIdleS,
    maxAgeS: params.max_age_s ?? options.sessionTtlS,
    maxCommands: options.sessionMaxCommands,
    maxProcesses: options.sessionMaxProcesses,
    maxOutputBytes: options.maxOutputBytes,
    executor: createExecutor(id, params, context),
    enclosure,
    commands,
    custody,
    log,
  });
}

function createExecutor(id: string, params: CreateParams, context: SessionContext): Executor {
  const { options, custody, newShellDir, spares, shell, enclosure } = context;
  const dialect = keepsState(params, enclosure) ? dialectOf(shell) : undefined;
  const common = {
    sessionId: id,
    shell,
    env: sessionEnv(params, options, enclosure),
    tags: tagsOf(id, options),
    workingDir: placesOf(enclosure).require(params.working_dir ?? workingDirIn(enclosure), undefined),
    custody,
    enclosure,
  };
  return dialect
    ? new StatefulExecutor({ ...common, dialect, newShellDir, spares })
    : new PlainExecutor(common);
}

/** By which the processes of a session are known. */
export const tagsOf = (id: string, { daemonTag }: CoreOptions): Env => ({
  [tagNames.session]: id,
  [tagNames.daemon]: daemonTag,
});

function keepsState({ stateful }: CreateParams, enclosure: Enclosure | undefined): boolean {
  if (enclosure?.canKeepState === false) {
    if (stateful !== true) return false;
    throw new TrlError(
      "UNSUPPORTED",
      'stateful: in another root nothing is carried over; leave it out, or ask for "sandbox" as well',
    );
  }
  return stateful !== false;
}

/** The daemon's, as far as it is inherited; what suits a command without a terminal; the session's own. */
function sessionEnv(params: CreateParams, options: CoreOptions, enclosure: Enclosure | undefined): Env {
  const policy = mergePolicy(options.envPolicy, params);
  const base = { ...inheritedEnv(options.env, policy), ...nonInteractiveDefaults(policy) };
  return overlayEnv(enclosure?.withTmpDir(base) ?? base, params.env ?? {});
}
