// A session that goes on while the program that made it becomes another.
import type { SessionState } from "../../upgrade/schema/commands.ts";
import type { Unpacking } from "../../upgrade/schema/fields.ts";
import { PlainRunner } from "../command/runners/plain-runner.ts";
import type { CommandRunner } from "../command/runners/runner.ts";
import { StatefulRunner } from "../command/runners/stateful-runner.ts";
import { dialectOf } from "../command/shell/pick.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
import { toText } from "../process/byte-string.ts";
import { tagsOf } from "./create-session.ts";
import { Session } from "./session.ts";
import type { SessionContext } from "./session-context.ts";

export function resumeSession(
  state: SessionState,
  context: SessionContext,
  sessionIsolation: SessionIsolation | undefined,
  given: Unpacking,
): Session {
  const { id, name, shell, timeoutS, idleTimeoutS, maxAgeS } = state;
  const runner = resumeExecutor(state, context, sessionIsolation);
  const spec = {
    id,
    owner: id,
    name,
    shell,
    timeoutS,
    idleTimeoutS,
    maxAgeS,
    runner,
    sessionIsolation,
    context,
  };
  const session = new Session(spec, state);
  if (state.running) session.resume(state.running, given);
  return session;
}

function resumeExecutor(
  { id, shell, executor: state }: SessionState,
  context: SessionContext,
  sessionIsolation: SessionIsolation | undefined,
): CommandRunner {
  const { options, ownership } = context;
  const common = { sessionId: id, shell, tags: tagsOf(id, options), sessionIsolation };
  if (state.kind === "plain")
    return new PlainRunner({ ...common, ownership, env: state.env, workingDir: state.workingDir });
  const dialect = dialectOf(shell);
  if (!dialect) throw new Error(`the state of ${shell} cannot be kept here`);
  const workingDir = toText(state.state.workingDir);
  return new StatefulRunner({
    ...{ ...common, workingDir, dialect, context },
    env: state.launchEnv,
    resumed: state,
  });
}
