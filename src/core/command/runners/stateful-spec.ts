// What a stateful runner is made of.
import type { RunnerState } from "../../../upgrade/schema/commands.ts";
import type { SessionIsolation } from "../../isolation/session-isolation.ts";
import type { Env } from "../../process/environment.ts";
import type { ProcessOwnership } from "../../process/ownership.ts";
import type { ShellDialect } from "../shell/dialect.ts";
import type { RunnerAccelerators } from "./accelerators.ts";

/** Shared by the shells of all sessions. */
export interface ShellContext {
  ownership: ProcessOwnership;
  /** A new path in the daemon's private directory for each shell. */
  newShellDir: () => string;
  accelerators: RunnerAccelerators;
  /** Environment of a session that asks for no other. */
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
  /** Of all accelerators it can use warm shells only. */
  isOldShell: boolean;
  /** State from before an upgrade. */
  resumed?: StatefulState;
}

export type StatefulState = Extract<RunnerState, { kind: "stateful" }>;
