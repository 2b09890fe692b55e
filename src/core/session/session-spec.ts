// What a session is made of.
import type { SessionState } from "../../protocol/handover/exec.ts";
import type { CommandStore } from "../exec/command-store.ts";
import type { Executor } from "../exec/executor.ts";
import type { Enclosure } from "../isolation/enclosure.ts";
import type { Log } from "../log.ts";
import type { Custody } from "../process/custody.ts";

export interface SessionSpec {
  id: string;
  name: string | null;
  shell: string;
  timeoutS: number;
  idleTimeoutS: number;
  maxAgeS: number;
  maxCommands: number;
  maxProcesses: number;
  maxOutputBytes: number;
  executor: Executor;
  enclosure: Enclosure | undefined;
  commands: CommandStore;
  custody: Custody;
  log: Log;
  /** As another program has left it. */
  before?: SessionState;
}
