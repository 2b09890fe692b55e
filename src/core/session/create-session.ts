// From the parameters of session.create to a session that is ready for its first command.
import { TrlError } from "../../protocol/errors.ts";
import type { CreateParams } from "../../protocol/session.ts";
import { PlainRunner } from "../command/runners/plain-runner.ts";
import type { CommandRunner } from "../command/runners/runner.ts";
import { StatefulRunner } from "../command/runners/stateful-runner.ts";
import { sessionPathsOf } from "../command/session-paths.ts";
import { dialectOf } from "../command/shell/pick.ts";
import { workingDirIn } from "../command/working-dir.ts";
import {
  type EnvPolicy,
  inheritedEnv,
  mergePolicy,
  nonInteractiveDefaults,
} from "../isolation/env-policy.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
import type { CoreOptions } from "../options.ts";
import { type Env, overlayEnv } from "../process/environment.ts";
import { tagNames } from "../process/tags.ts";
import { Session } from "./session.ts";
import type { SessionContext, SessionPlace } from "./session-context.ts";

export function createSession(
  id: string,
  params: CreateParams,
  context: SessionContext,
  { shell, sessionIsolation, owner = id }: SessionPlace & { owner?: string | undefined },
): Session {
  const { options, ownership } = context;
  ownership.addSession(id); // its first shell is started with the executor, and is to be known
  try {
    return new Session({
      id,
      owner,
      name: params.name ?? null,
      shell,
      timeoutS: params.timeout_s ?? options.defaultTimeoutS,
      idleTimeoutS: params.idle_timeout_s ?? options.maxIdleS,
      maxAgeS: params.max_age_s ?? options.sessionTtlS,
      runner: createExecutor(id, params, context, { shell, sessionIsolation }),
      sessionIsolation,
      context,
    });
  } catch (error) {
    ownership.removeSession(id);
    throw error;
  }
}

function createExecutor(
  id: string,
  params: CreateParams,
  context: SessionContext,
  { shell, sessionIsolation }: SessionPlace,
): CommandRunner {
  const { options, ownership } = context;
  const dialect = keepsState(params, sessionIsolation) ? dialectOf(shell) : undefined;
  const common = {
    sessionId: id,
    shell,
    env: sessionEnv(params, context, sessionIsolation),
    tags: tagsOf(id, options),
    workingDir: sessionPathsOf(sessionIsolation).require(
      params.working_dir ?? workingDirIn(sessionIsolation),
      undefined,
    ),
    sessionIsolation,
  };
  return dialect
    ? new StatefulRunner({ ...common, dialect, context })
    : new PlainRunner({ ...common, ownership });
}

/** By which the processes of a session are known. */
export const tagsOf = (id: string, { daemonTag }: CoreOptions): Env => ({
  [tagNames.session]: id,
  [tagNames.daemon]: daemonTag,
});

function keepsState({ stateful }: CreateParams, sessionIsolation: SessionIsolation | undefined): boolean {
  if (sessionIsolation?.canKeepState === false) {
    if (stateful !== true) return false;
    throw new TrlError(
      "UNSUPPORTED",
      'stateful: in another root nothing is carried over; leave it out, or ask for "sandbox" as well',
    );
  }
  return stateful !== false;
}

/** The daemon's, as far as it is inherited; what suits a command without a terminal; the session's own. */
function sessionEnv(
  params: CreateParams,
  { options, usualEnv }: SessionContext,
  sessionIsolation: SessionIsolation | undefined,
): Env {
  const { inherit_env, env_include, env_exclude } = params;
  const isUsual = [inherit_env, env_include, env_exclude].every((asked) => asked === undefined);
  const base = isUsual ? usualEnv : envBy(mergePolicy(options.envPolicy, params), options);
  return overlayEnv(sessionIsolation?.withTmpDir(base) ?? base, params.env ?? {});
}

/** As the daemon's own policy has it: the same for all sessions that do not ask for another. */
export const usualEnvOf = (options: CoreOptions): Env => envBy(options.envPolicy, options);

const envBy = (policy: EnvPolicy, { env }: CoreOptions): Env => ({
  ...inheritedEnv(env, policy),
  ...nonInteractiveDefaults(policy),
});
