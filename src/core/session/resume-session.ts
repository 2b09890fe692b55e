// A session that goes on while the program that made it becomes another.
import type { SessionState } from "../../protocol/handover/exec.ts";
import type { Unpacking } from "../../protocol/handover/pieces.ts";
import type { Executor } from "../exec/executor.ts";
import { PlainExecutor } from "../exec/plain-executor.ts";
import { toText } from "../exec/shell/byte-string.ts";
import { dialectOf } from "../exec/shell/pick.ts";
import { StatefulExecutor } from "../exec/stateful-executor.ts";
import { type SessionContext, tagsOf } from "./create-session.ts";
import { Session } from "./session.ts";

export function resumeSession(state: SessionState, context: SessionContext, given: Unpacking): Session {
  const { options, commands, custody, log, enclosure } = context;
  const { id, name, shell, timeoutS, idleTimeoutS, maxAgeS } = state;
  const session = new Session({
    ...{ id, name, shell, timeoutS, idleTimeoutS, maxAgeS, enclosure, commands, custody, log },
    maxCommands: options.sessionMaxCommands,
    maxProcesses: options.sessionMaxProcesses,
    maxOutputBytes: options.maxOutputBytes,
    executor: resumeExecutor(state, context),
    before: state,
  });
  if (state.running) session.resume(state.running, given);
  return session;
}

function resumeExecutor({ id, shell, executor: state }: SessionState, context: SessionContext): Executor {
  const { options, custody, newShellDir, spares, enclosure } = context;
  const common = { sessionId: id, shell, tags: tagsOf(id, options), custody, enclosure };
  if (state.kind === "plain")
    return new PlainExecutor({ ...common, env: state.env, workingDir: state.workingDir });
  const dialect = dialectOf(shell);
  if (!dialect) throw new Error(`the state of ${shell} cannot be kept here`);
  const workingDir = toText(state.state.workingDir);
  return new StatefulExecutor({
    ...{ ...common, workingDir, dialect, newShellDir, spares },
    env: state.launchEnv,
    resumed: state,
  });
}
