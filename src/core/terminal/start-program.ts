// What a terminal is made of, and how its program gets its process.
import { TrlError } from "../../protocol/errors.ts";
import type { Unpacking } from "../../upgrade/schema/fields.ts";
import type { TerminalState } from "../../upgrade/schema/terminals.ts";
import { failureOf } from "../../util/failure.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
import type { ProcessOwnership } from "../process/ownership.ts";
import { AdoptedPty, pastPty } from "./drivers/adopted.ts";
import type { PtyDriver, PtyProcess, PtySpec } from "./drivers/driver.ts";
import type { Screens } from "./screen/screens.ts";

/** How another program has left a terminal. */
export interface Before {
  state: TerminalState;
  given: Unpacking;
}

export interface TerminalSpec {
  id: string;
  name: string | null;
  shell: string;
  command: string | null;
  driver: PtyDriver;
  /** As the program sees it. */
  workingDir: string;
  idleTimeoutS: number;
  maxAgeS: number;
  sessionIsolation: SessionIsolation | undefined;
  pty: Omit<PtySpec, "onOutput">;
  ownership: ProcessOwnership;
  screens: Screens;
  /** Whether there is room for so much more output of terminals. */
  mayKeep: (bytes: number) => boolean;
  /** As another program has left it. */
  before?: Before;
}

/** Started by its driver, or by another program that has become this one; of one that has ended nothing is left. */
export function startProgram(spec: TerminalSpec, onOutput: PtySpec["onOutput"]): PtyProcess {
  const { ownership, driver, id, pty, sessionIsolation, before } = spec;
  if (before?.state.ended) return pastPty(before.state.pid);
  const cgroup = sessionIsolation?.cgroup;
  ownership.addSession(id, cgroup && (() => cgroup.members()));
  if (before) return new AdoptedPty({ ...pty, onOutput }, before.state.pid, before.state.live!, before.given);
  try {
    return ownership.start(id, () => driver.spawn({ ...pty, onOutput }));
  } catch (error) {
    ownership.removeSession(id);
    throw new TrlError("SPAWN_FAILED", `${pty.argv[0]} could not be started: ${failureOf(error)}`);
  }
}
