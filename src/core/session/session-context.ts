// What all sessions have in common, held once.
import type { CommandStore } from "../exec/command-store.ts";
import type { ShellContext } from "../exec/stateful-spec.ts";
import type { Enclosure } from "../isolation/enclosure.ts";
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
  enclosure: Enclosure | undefined;
}
