// What a session is made of.
import type { Executor } from "../command/runners/runner.ts";
import type { Enclosure } from "../isolation/session-isolation.ts";
import type { SessionContext } from "./session-context.ts";

export interface SessionSpec {
  id: string;
  name: string | null;
  /** The connection that has made it, or its own id. */
  owner: string;
  shell: string;
  timeoutS: number;
  idleTimeoutS: number;
  maxAgeS: number;
  executor: Executor;
  enclosure: Enclosure | undefined;
  context: SessionContext;
}
