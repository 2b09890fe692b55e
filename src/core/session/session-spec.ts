// What a session is constructed from: its own settings, and the context that all sessions share.
import type { CommandRunner } from "../command/runners/runner.ts";
import type { ShellContext } from "../command/runners/stateful-spec.ts";
import type { CommandStore } from "../command/store.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
import type { Log } from "../log.ts";
import type { CoreOptions } from "../options.ts";

/** What a probe has found out about a shell (shell-probes.ts). */
export interface ShellAbilities {
  /** Why sessions with it keep no state; undefined where they do. */
  noState?: string | undefined;
  /** It runs no command at all; what it said. */
  failure?: string | undefined;
  /** It lacks what accelerators need, as bash before 4.4 does. */
  isOld: boolean;
}

export interface SessionSpec {
  id: string;
  name: string | null;
  /** The id of the connection that created it, or its own id. */
  owner: string;
  shell: string;
  timeoutS: number;
  idleTimeoutS: number;
  maxAgeS: number;
  runner: CommandRunner;
  /** Why it keeps no state, where it was meant to. */
  noStateReason?: string | undefined;
  sessionIsolation: SessionIsolation | undefined;
  context: SessionContext;
}

export interface SessionContext extends ShellContext {
  options: CoreOptions;
  commands: CommandStore;
  log: Log;
}
