// What a session is constructed from: its own settings, and the context that all sessions share.
import type { CommandRunner } from "../command/runners/runner.ts";
import type { ShellContext } from "../command/runners/stateful-spec.ts";
import type { CommandStore } from "../command/store.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
import type { Log } from "../log.ts";
import type { CoreOptions } from "../options.ts";

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
  sessionIsolation: SessionIsolation | undefined;
  context: SessionContext;
}

export interface SessionContext extends ShellContext {
  options: CoreOptions;
  commands: CommandStore;
  log: Log;
}
