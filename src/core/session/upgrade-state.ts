// Everything that the core keeps, handed to the program that comes and taken up by it.
import { notePeakBeforeExec, peakMemoryBytes } from "../../platform/process-usage.ts";
import type { CoreState } from "../../upgrade/schema/document.ts";
import type { Packing, Unpacking } from "../../upgrade/schema/fields.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
import { packSession } from "./pack-session.ts";
import type { SessionRegistry } from "./registry.ts";

/** Of a registry that is at rest, or for a trial. */
export function packCore(registry: SessionRegistry, packing: Packing): CoreState {
  const { ownership, commands, terminals, isolations, counts } = registry;
  const known: SessionIsolation[] = [];
  const numberOf = (sessionIsolation: SessionIsolation | undefined) =>
    sessionIsolation === undefined ? undefined : known.push(sessionIsolation) - 1;
  const sessions = registry
    .list()
    .map((session) => packSession(session, numberOf(session.spec.sessionIsolation), packing));
  // Those that cannot cross are waited for before it comes to that.
  const crossing = terminals.list().filter(({ canCross }) => canCross);
  const ofTerminals = crossing.map((terminal) => {
    // Of one that has ended, what kept it is gone.
    const sessionIsolation = terminal.exit ? undefined : numberOf(terminal.spec.sessionIsolation);
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
    terminals: ofTerminals,
    ...counts,
    peakBytes: peakMemoryBytes(),
  };
}

/** Into a registry that has nothing yet. */
export function takeOverCore(registry: SessionRegistry, state: CoreState, given: Unpacking): void {
  notePeakBeforeExec(state.peakBytes);
  const known = state.enclosures.enclosures.map((sessionIsolation) =>
    registry.isolations.known(sessionIsolation),
  );
  const isolationOf = (number: number | undefined) => (number === undefined ? undefined : known[number]);
  registry.commands.takeOver(state.commands, given);
  for (const session of state.sessions) registry.resume(session, isolationOf(session.enclosure), given);
  for (const terminal of state.terminals)
    registry.terminals.resume(terminal, isolationOf(terminal.enclosure), given);
  registry.census.note(); // the journal is written anew, and has them from its first line on
}

/** What cannot be handed over, as it is told. */
export function obstaclesIn({ terminals }: SessionRegistry): string[] {
  return terminals.live
    .filter(({ canCross }) => !canCross)
    .map(
      ({ id, spec }) => `the terminal ${spec.name ?? id} is bun-pty's, whose threads cannot be handed over`,
    );
}
