// A session that goes on while the program that made it becomes another.
import type { SessionState } from "../../protocol/handover/exec.ts";
import type { Unpacking } from "../../protocol/handover/pieces.ts";
import type { Executor } from "../exec/executor.ts";
import { PlainExecutor } from "../exec/plain-executor.ts";
import { toText } from "../exec/shell/byte-string.ts";
import { dialectOf } from "../exec/shell/pick.ts";
import { StatefulExecutor } from "../exec/stateful-executor.ts";
import type { Enclosure } from "../isolation/enclosure.ts";
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
