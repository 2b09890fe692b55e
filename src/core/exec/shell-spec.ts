// What every shell of a session is made of.
import type { Enclosure } from "../isolation/enclosure.ts";
import type { KeptEnv } from "./kept-env.ts";
import type { Places } from "./places.ts";
import type { ShellDialect } from "./shell/dialect.ts";

export interface ShellSpec {
  sessionId: string;
  shell: string;
  dialect: ShellDialect;
  /** The session's own environment: every shell is started with it. */
  launchEnv: KeptEnv;
  places: Places;
  enclosure: Enclosure | undefined;
}
