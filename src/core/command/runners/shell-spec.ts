// What every shell of a session is made of.
import type { SessionIsolation } from "../../isolation/session-isolation.ts";
import type { SessionPaths } from "../session-paths.ts";
import type { ShellDialect } from "../shell/dialect.ts";
import type { SharedEnv } from "./shared-env.ts";

export interface ShellSpec {
  sessionId: string;
  shell: string;
  dialect: ShellDialect;
  /** Every shell is started with the session's own environment. */
  launchEnv: SharedEnv;
  paths: SessionPaths;
  sessionIsolation: SessionIsolation | undefined;
}
