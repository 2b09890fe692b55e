// Descriptions of a session for the replies of the session methods.
import type { RunResult } from "../../protocol/exec.ts";
import type { CreateResult, SessionInfo, SessionSummary } from "../../protocol/session.ts";
import { expiryFields } from "../lifetime/expiry.ts";
import { countProcesses } from "./admission.ts";
import type { Session } from "./session.ts";

export function describeSession(session: Session): SessionSummary {
  const { spec } = session;
  return {
    session_id: spec.id,
    name: spec.name,
    kind: "exec",
    shell: spec.shell,
    state: session.state,
    working_dir: spec.runner.workingDir,
    created_at: session.createdAt.toISOString(),
    last_activity: session.lastActivity.toISOString(),
    command_count: session.commandCount,
    timeout_s: spec.timeoutS,
    idle_timeout_s: spec.idleTimeoutS,
    max_age_s: spec.maxAgeS,
    ...expiryFields(session.expiry),
  };
}

export async function inspectSession(session: Session): Promise<SessionInfo> {
  const { runner, sessionIsolation } = session.spec;
  const processes = await session.spec.context.ownership.slicer.run(countProcesses(session.spec));
  const running = session.runningCommand;
  return {
    ...describeSession(session),
    env_keys: [...runner.exportedNames].sort(),
    stateful: runner.isStateful,
    running_command: running ? { command_id: running.id, started_at: running.startedAt.toISOString() } : null,
    processes: processes.all,
    isolation: sessionIsolation?.info() ?? null,
    receipt: session.totals.sum(processes.leftovers),
  };
}

/** Includes the result of `init`, if the session has one. */
export function describeCreated(session: Session, init: RunResult | undefined): CreateResult {
  const { session_id, name, shell, state, working_dir, created_at, timeout_s } = describeSession(session);
  const { runner, noStateReason } = session.spec;
  const created = {
    ...{ session_id, name, shell, state, working_dir, created_at, timeout_s },
    stateful: runner.isStateful,
    ...(noStateReason === undefined ? {} : { stateful_reason: noStateReason }),
  };
  if (!init) return created;
  const { exit_code, stdout, stderr, reason } = init;
  return { ...created, init: { exit_code, stdout, stderr, reason } };
}
