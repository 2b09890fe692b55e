// What every shell of a session is made of.
import type { SessionIsolation } from "../../isolation/session-isolation.ts";
import type { SessionPaths } from "../session-paths.ts";
import type { ShellDialect } from "../shell/dialect.ts";
import type { SharedEnv } from "./shared-env.ts";

export interface ShellSpec {
  sessionId: string;
  shell: string;
  dialect: ShellDialect;
  /** The session's own environment: every shell is started with it. */
  launchEnv: SharedEnv;
  places: SessionPaths;
  sessionIsolation: SessionIsolation | undefined;
}
