// What every shell of a session is made of.
import type { Enclosure } from "../../isolation/session-isolation.ts";
import type { Places } from "../session-paths.ts";
import type { ShellDialect } from "../shell/dialect.ts";
import type { KeptEnv } from "./shared-env.ts";

export interface ShellSpec {
  sessionId: string;
  shell: string;
  dialect: ShellDialect;
  /** The session's own environment: every shell is started with it. */
  launchEnv: KeptEnv;
  places: Places;
  enclosure: Enclosure | undefined;
}
