// The state of the core for an upgrade: the old executable serializes it, the new one restores it. The keys of the
// schema are older than the names in the code: `enclosure` is an isolation, `executor` a runner.

import { notePeakBeforeExec, peakMemoryBytes } from "../../platform/process-usage.ts";
import type { SessionState } from "../../upgrade/schema/commands.ts";
import type { CoreState } from "../../upgrade/schema/document.ts";
import type { Packing, Unpacking } from "../../upgrade/schema/fields.ts";
import { PlainRunner } from "../command/runners/plain-runner.ts";
import type { CommandRunner } from "../command/runners/runner.ts";
import { StatefulRunner } from "../command/runners/stateful-runner.ts";
import { dialectOf } from "../command/shell/pick.ts";
import { detailsOf } from "../command/store.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
import { toText } from "../process/byte-string.ts";
import { tagsOf } from "./create-session.ts";
import type { SessionRegistry } from "./registry.ts";
import { Session } from "./session.ts";
import type { SessionContext } from "./session-spec.ts";

/** The registry must be at rest, unless the result is only for a trial. */
export function serializeCore(registry: SessionRegistry, packing: Packing): CoreState {
  const { ownership, commands, terminals, isolations, counts } = registry;
  const known: SessionIsolation[] = [];
  const indexOf = (sessionIsolation: SessionIsolation | undefined) =>
    sessionIsolation === undefined ? undefined : known.push(sessionIsolation) - 1;
  const sessions = registry
    .list()
    .map((session) => serializeSession(session, indexOf(session.spec.sessionIsolation), packing));
  // The upgrade waits for the end of the others beforehand (`obstaclesIn`).
  const crossing = terminals.list().filter(({ canCross }) => canCross);
  const terminalStates = crossing.map((terminal) => {
    // The isolation of an ended terminal is disposed already.
    const sessionIsolation = terminal.exit ? undefined : indexOf(terminal.spec.sessionIsolation);
    return { ...terminal.pack(packing), enclosure: sessionIsolation };
  });
  return {
    custody: ownership.pack(),
    enclosures: {
      cgroups: isolations.pack(),
      enclosures: known.map((sessionIsolation) => sessionIsolation.pack()),
    },
    commands: commands.pack(packing),
    sessions,
    terminals: terminalStates,
    ...counts,
    peakBytes: peakMemoryBytes(),
  };
}

/** Fills an empty registry. */
export function restoreCore(registry: SessionRegistry, state: CoreState, given: Unpacking): void {
  notePeakBeforeExec(state.peakBytes);
  const known = state.enclosures.enclosures.map((isolation) => registry.isolations.restore(isolation));
  const isolationAt = (index: number | undefined) => (index === undefined ? undefined : known[index]);
  registry.commands.takeOver(state.commands, given);
  for (const session of state.sessions)
    registry.add(restoreSession(session, registry.context, isolationAt(session.enclosure), given));
  for (const terminal of state.terminals)
    registry.terminals.resume(terminal, isolationAt(terminal.enclosure), given);
  registry.events.processesChanged(); // so that the rewritten journal lists them from the start
}

/** The session must be at rest. `isolationIndex` refers to the serialized isolations. */
function serializeSession(
  session: Session,
  isolationIndex: number | undefined,
  packing: Packing,
): SessionState {
  const { id, name, shell, timeoutS, idleTimeoutS, maxAgeS, runner, context } = session.spec;
  const command = session.runningCommand;
  return {
    ...{ id, name, shell, timeoutS, idleTimeoutS, maxAgeS, enclosure: isolationIndex },
    createdAt: session.createdAt.getTime(),
    createdSteadyMs: session.createdAt.steadyMs,
    lastActivity: session.lastActivity.getTime(),
    lastActivitySteadyMs: session.lastActivity.steadyMs,
    commandCount: session.commandCount,
    totals: session.totals.sum(0),
    executor: runner.pack(),
    running: command && { ...detailsOf(context.commands.get(command.id)), command: command.pack(packing) },
    lingeringFds: session.lingering.pack(packing),
  };
}

function restoreSession(
  state: SessionState,
  context: SessionContext,
  sessionIsolation: SessionIsolation | undefined,
  given: Unpacking,
): Session {
  const { id, name, shell, timeoutS, idleTimeoutS, maxAgeS } = state;
  const runner = restoreRunner(state, context, sessionIsolation);
  const limits = { timeoutS, idleTimeoutS, maxAgeS };
  const session = new Session(
    { id, owner: id, name, shell, ...limits, runner, sessionIsolation, context },
    state,
  );
  if (state.running) session.resume(state.running, given);
  return session;
}

function restoreRunner(
  { id, shell, executor: state }: SessionState,
  context: SessionContext,
  sessionIsolation: SessionIsolation | undefined,
): CommandRunner {
  const { options, ownership } = context;
  const common = { sessionId: id, shell, tags: tagsOf(id, options), sessionIsolation };
  if (state.kind === "plain")
    return new PlainRunner({ ...common, ownership, env: state.env, workingDir: state.workingDir });
  const dialect = dialectOf(shell);
  if (!dialect) throw new Error(`the state of ${shell} cannot be restored: the shell has no known dialect`);
  const workingDir = toText(state.state.workingDir);
  return new StatefulRunner({
    ...{ ...common, workingDir, dialect, context },
    env: state.launchEnv,
    isOldShell: state.isOldShell,
    resumed: state,
  });
}

/** What prevents an upgrade, as messages for the client. */
export function obstaclesIn({ terminals }: SessionRegistry): string[] {
  return terminals.live
    .filter(({ canCross }) => !canCross)
    .map(({ id, spec }) => `the terminal ${spec.name ?? id} is bun-pty's: its threads cannot be handed over`);
}
