// What a terminal is created from, and the start or adoption of its program.
import { TrlError } from "../../protocol/errors.ts";
import type { Unpacking } from "../../upgrade/schema/fields.ts";
import type { TerminalState } from "../../upgrade/schema/terminals.ts";
import { failureOf } from "../../util/failure.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
import type { ProcessOwnership } from "../process/ownership.ts";
import { adoptPty, endedPty } from "./drivers/adopted.ts";
import type { PtyDriver, PtyProcess, PtySpec } from "./drivers/driver.ts";
import type { OutputScheduler } from "./output-scheduler.ts";
import type { Screens } from "./screen/screens.ts";

/** A terminal as the daemon before an upgrade saved it. */
export interface RestoredTerminal {
  state: TerminalState;
  unpacking: Unpacking;
}

/** What all terminals share. */
export interface SharedServices {
  ownership: ProcessOwnership;
  screens: Screens;
  scheduler: OutputScheduler;
  /** Whether the output of all terminals may grow by so many bytes. */
  mayKeep: (bytes: number) => boolean;
}

export interface TerminalSpec extends SharedServices {
  id: string;
  /** Unique in this process; an id may be used again. */
  serial: number;
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
  restored?: RestoredTerminal;
}

/** Starts the program, or adopts one that was started before an upgrade. */
export function startProgram(spec: TerminalSpec, onOutput: PtySpec["onOutput"]): PtyProcess {
  const { ownership, driver, id, pty, sessionIsolation, restored } = spec;
  if (restored?.state.ended) return endedPty(restored.state.pid);
  const cgroup = sessionIsolation?.cgroup;
  ownership.addSession(id, cgroup && (() => cgroup.members()));
  if (restored) return adoptPty(restored.state.pid, restored.state.live!, restored.unpacking, onOutput);
  try {
    return ownership.start(id, () => driver.spawn({ ...pty, onOutput }));
  } catch (error) {
    ownership.removeSession(id);
    throw new TrlError("SPAWN_FAILED", `${pty.argv[0]} could not be started: ${failureOf(error)}`);
  }
}
