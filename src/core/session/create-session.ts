// From the parameters of session.create to a session that is ready for its first command.
import { TrlError } from "../../protocol/errors.ts";
import type { CreateParams } from "../../protocol/session.ts";
import { PlainExecutor } from "../command/runners/plain-runner.ts";
import type { Executor } from "../command/runners/runner.ts";
import { StatefulExecutor } from "../command/runners/stateful-runner.ts";
import { placesOf } from "../command/session-paths.ts";
import { dialectOf } from "../command/shell/pick.ts";
import { workingDirIn } from "../command/working-dir.ts";
import {
  type EnvPolicy,
  inheritedEnv,
  mergePolicy,
  nonInteractiveDefaults,
} from "../isolation/env-policy.ts";
import type { Enclosure } from "../isolation/session-isolation.ts";
import { type Env, overlayEnv } from "../process/environment.ts";
import { tagNames } from "../process/tags.ts";
import type { CoreOptions } from "./options.ts";
import { Session } from "./session.ts";
import type { SessionContext, SessionPlace } from "./session-context.ts";

export function createSession(
  id: string,
  params: CreateParams,
  context: SessionContext,
  { shell, enclosure, owner = id }: SessionPlace & { owner?: string | undefined },
): Session {
  const { options, custody } = context;
  custody.addSession(id); // its first shell is started with the executor, and is to be known
  try {
    return new Session({
      id,
      owner,
      name: params.name ?? null,
      shell,
      timeoutS: params.timeout_s ?? options.defaultTimeoutS,
      idleTimeoutS: params.idle_timeout_s ?? options.maxIdleS,
      maxAgeS: params.max_age_s ?? options.sessionTtlS,
      executor: createExecutor(id, params, context, { shell, enclosure }),
      enclosure,
      context,
    });
  } catch (error) {
    custody.removeSession(id);
    throw error;
  }
}

function createExecutor(
  id: string,
  params: CreateParams,
  context: SessionContext,
  { shell, enclosure }: SessionPlace,
): Executor {
  const { options, custody } = context;
  const dialect = keepsState(params, enclosure) ? dialectOf(shell) : undefined;
  const common = {
    sessionId: id,
    shell,
    env: sessionEnv(params, context, enclosure),
    tags: tagsOf(id, options),
    workingDir: placesOf(enclosure).require(params.working_dir ?? workingDirIn(enclosure), undefined),
    enclosure,
  };
  return dialect
    ? new StatefulExecutor({ ...common, dialect, context })
    : new PlainExecutor({ ...common, custody });
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
function sessionEnv(
  params: CreateParams,
  { options, usualEnv }: SessionContext,
  enclosure: Enclosure | undefined,
): Env {
  const { inherit_env, env_include, env_exclude } = params;
  const isUsual = [inherit_env, env_include, env_exclude].every((asked) => asked === undefined);
  const base = isUsual ? usualEnv : envBy(mergePolicy(options.envPolicy, params), options);
  return overlayEnv(enclosure?.withTmpDir(base) ?? base, params.env ?? {});
}

/** As the daemon's own policy has it: the same for all sessions that do not ask for another. */
export const usualEnvOf = (options: CoreOptions): Env => envBy(options.envPolicy, options);

const envBy = (policy: EnvPolicy, { env }: CoreOptions): Env => ({
  ...inheritedEnv(env, policy),
  ...nonInteractiveDefaults(policy),
});
