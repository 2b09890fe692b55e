// Creates a session from the parameters of session.create. The registry decides on its id, shell and isolation.
import { TrlError } from "../../protocol/errors.ts";
import type { CreateParams } from "../../protocol/session.ts";
import { PlainRunner } from "../command/runners/plain-runner.ts";
import type { CommandRunner } from "../command/runners/runner.ts";
import { StatefulRunner } from "../command/runners/stateful-runner.ts";
import { sessionPathsOf } from "../command/session-paths.ts";
import { dialectOf } from "../command/shell/pick.ts";
import { workingDirIn } from "../command/working-dir.ts";
import { inheritedEnv, mergePolicy, nonInteractiveDefaults } from "../isolation/env-policy.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
import type { CoreOptions, EnvPolicy } from "../options.ts";
import { type Env, overlayEnv } from "../process/environment.ts";
import { tagNames } from "../process/tags.ts";
import { Session } from "./session.ts";
import type { SessionContext } from "./session-spec.ts";

interface SessionSetup {
  shell: string;
  sessionIsolation: SessionIsolation | undefined;
}

export function createSession(
  id: string,
  params: CreateParams,
  context: SessionContext,
  { shell, sessionIsolation, owner = id }: SessionSetup & { owner?: string | undefined },
): Session {
  const { options, ownership } = context;
  ownership.addSession(id); // before the runner, which may start a warm shell at once
  try {
    return new Session({
      id,
      owner,
      name: params.name ?? null,
      shell,
      timeoutS: params.timeout_s ?? options.defaultTimeoutS,
      idleTimeoutS: params.idle_timeout_s ?? options.maxIdleS,
      maxAgeS: params.max_age_s ?? options.sessionTtlS,
      runner: createRunner(id, params, context, { shell, sessionIsolation }),
      sessionIsolation,
      context,
    });
  } catch (error) {
    ownership.removeSession(id);
    throw error;
  }
}

function createRunner(
  id: string,
  params: CreateParams,
  context: SessionContext,
  { shell, sessionIsolation }: SessionSetup,
): CommandRunner {
  const { options, ownership } = context;
  const dialect = isStateful(params, sessionIsolation) ? dialectOf(shell) : undefined;
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

/** The variables by which process ownership recognizes the processes of a session. */
export const tagsOf = (id: string, { daemonTag }: CoreOptions): Env => ({
  [tagNames.session]: id,
  [tagNames.daemon]: daemonTag,
});

function isStateful({ stateful }: CreateParams, sessionIsolation: SessionIsolation | undefined): boolean {
  if (sessionIsolation?.canKeepState === false) {
    if (stateful !== true) return false;
    throw new TrlError(
      "UNSUPPORTED",
      'stateful: in another root nothing is carried over; leave it out, or ask for "sandbox" as well',
    );
  }
  return stateful !== false;
}

/** Inherited variables, then the non-interactive defaults, then the session's own `env`. */
function sessionEnv(
  params: CreateParams,
  { options, usualEnv }: SessionContext,
  sessionIsolation: SessionIsolation | undefined,
): Env {
  const { inherit_env, env_include, env_exclude } = params;
  const isUsual = [inherit_env, env_include, env_exclude].every((param) => param === undefined);
  const base = isUsual ? usualEnv : envBy(mergePolicy(options.envPolicy, params), options);
  return overlayEnv(sessionIsolation?.withTmpDir(base) ?? base, params.env ?? {});
}

/** By the daemon's default policy: one object, shared by all sessions that set no policy of their own. */
export const usualEnvOf = (options: CoreOptions): Env => envBy(options.envPolicy, options);

const envBy = (policy: EnvPolicy, { env }: CoreOptions): Env => ({
  ...inheritedEnv(env, policy),
  ...nonInteractiveDefaults(policy),
});
