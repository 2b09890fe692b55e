// What all sessions have in common, held once.

import type { ShellContext } from "../command/runners/stateful-spec.ts";
import type { CommandStore } from "../command/store.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
import type { Log } from "../log.ts";
import type { CoreOptions } from "../options.ts";

export interface SessionContext extends ShellContext {
  options: CoreOptions;
  commands: CommandStore;
  log: Log;
}

/** What one of them runs, and in what. */
export interface SessionPlace {
  shell: string;
  sessionIsolation: SessionIsolation | undefined;
}
