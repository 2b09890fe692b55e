// What the keeper of a session's shell state is made of.
import type { ExecutorState } from "../../../upgrade/schema/commands.ts";
import type { Enclosure } from "../../isolation/session-isolation.ts";
import type { Env } from "../../process/environment.ts";
import type { Custody } from "../../process/ownership.ts";
import type { ShellDialect } from "../shell/dialect.ts";
import type { SpareShells } from "./warm-shell-pool.ts";

/** What the shells of all sessions have in common. */
export interface ShellContext {
  custody: Custody;
  /** Each shell gets a directory of its own in here. */
  newShellDir: () => string;
  spares: SpareShells;
  /** What a session is given that asks for nothing else. */
  usualEnv: Env;
}

export interface StatefulSpec {
  sessionId: string;
  shell: string;
  dialect: ShellDialect;
  env: Env;
  tags: Env;
  workingDir: string;
  context: ShellContext;
  enclosure: Enclosure | undefined;
  /** As another program has left it. */
  resumed?: StatefulState;
}

export type StatefulState = Extract<ExecutorState, { kind: "stateful" }>;
