// A session that goes on while the program that made it becomes another.
import type { SessionState } from "../../upgrade/schema/commands.ts";
import type { Unpacking } from "../../upgrade/schema/fields.ts";
import { PlainExecutor } from "../command/runners/plain-runner.ts";
import type { Executor } from "../command/runners/runner.ts";
import { StatefulExecutor } from "../command/runners/stateful-runner.ts";
import { dialectOf } from "../command/shell/pick.ts";
import type { Enclosure } from "../isolation/session-isolation.ts";
import { toText } from "../process/byte-string.ts";
import { tagsOf } from "./create-session.ts";
import { Session } from "./session.ts";
import type { SessionContext } from "./session-context.ts";

export function resumeSession(
  state: SessionState,
  context: SessionContext,
  enclosure: Enclosure | undefined,
  given: Unpacking,
): Session {
  const { id, name, shell, timeoutS, idleTimeoutS, maxAgeS } = state;
  const executor = resumeExecutor(state, context, enclosure);
  const spec = { id, owner: id, name, shell, timeoutS, idleTimeoutS, maxAgeS, executor, enclosure, context };
  const session = new Session(spec, state);
  if (state.running) session.resume(state.running, given);
  return session;
}

function resumeExecutor(
  { id, shell, executor: state }: SessionState,
  context: SessionContext,
  enclosure: Enclosure | undefined,
): Executor {
  const { options, custody } = context;
  const common = { sessionId: id, shell, tags: tagsOf(id, options), enclosure };
  if (state.kind === "plain")
    return new PlainExecutor({ ...common, custody, env: state.env, workingDir: state.workingDir });
  const dialect = dialectOf(shell);
  if (!dialect) throw new Error(`the state of ${shell} cannot be kept here`);
  const workingDir = toText(state.state.workingDir);
  return new StatefulExecutor({
    ...{ ...common, workingDir, dialect, context },
    env: state.launchEnv,
    resumed: state,
  });
}
