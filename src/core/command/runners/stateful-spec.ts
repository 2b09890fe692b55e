// What the keeper of a session's shell state is made of.
import type { RunnerState } from "../../../upgrade/schema/commands.ts";
import type { SessionIsolation } from "../../isolation/session-isolation.ts";
import type { Env } from "../../process/environment.ts";
import type { ProcessOwnership } from "../../process/ownership.ts";
import type { ShellDialect } from "../shell/dialect.ts";
import type { WarmShellPool } from "./warm-shell-pool.ts";

/** What the shells of all sessions have in common. */
export interface ShellContext {
  ownership: ProcessOwnership;
  /** Each shell gets a directory of its own in here. */
  newShellDir: () => string;
  warmShellPool: WarmShellPool;
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
  sessionIsolation: SessionIsolation | undefined;
  /** As another program has left it. */
  resumed?: StatefulState;
}

export type StatefulState = Extract<RunnerState, { kind: "stateful" }>;
