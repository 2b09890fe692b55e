// What a session is made of.
import type { CommandRunner } from "../command/runners/runner.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
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
  runner: CommandRunner;
  sessionIsolation: SessionIsolation | undefined;
  context: SessionContext;
}
