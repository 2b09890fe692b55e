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
import type { SessionContext, ShellAbilities } from "./session-spec.ts";

interface SessionSetup {
  shell: string;
  abilities: ShellAbilities;
  sessionIsolation: SessionIsolation | undefined;
}

export function createSession(
  id: string,
  params: CreateParams,
  context: SessionContext,
  { owner = id, ...setup }: SessionSetup & { owner?: string | undefined },
): Session {
  const { options, ownership } = context;
  const { shell, sessionIsolation } = setup;
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
      runner: createRunner(id, params, context, setup),
      noStateReason: noStateReason(params, setup),
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
  { shell, sessionIsolation, abilities }: SessionSetup,
): CommandRunner {
  const { options, ownership } = context;
  const keepsState = isStateful(params, sessionIsolation) && abilities.noState === undefined;
  if (params.stateful === true && !keepsState)
    throw new TrlError("UNSUPPORTED", `stateful: ${shell} keeps no state: ${abilities.noState}`);
  const dialect = keepsState ? dialectOf(shell) : undefined;
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
    ? new StatefulRunner({ ...common, dialect, context, isOldShell: abilities.isOld })
    : new PlainRunner({ ...common, ownership });
}

/** The variables by which process ownership recognizes the processes of a session. */
export const tagsOf = (id: string, { daemonTag }: CoreOptions): Env => ({
  [tagNames.session]: id,
  [tagNames.daemon]: daemonTag,
});

/** Undefined for a session that keeps its state, or is not meant to. */
function noStateReason(
  { stateful }: CreateParams,
  { sessionIsolation, abilities }: SessionSetup,
): string | undefined {
  if (stateful === false) return undefined;
  return sessionIsolation?.canKeepState === false
    ? "in another root nothing is carried over"
    : abilities.noState;
}

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
