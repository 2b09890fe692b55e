// Rollback: a program that cannot take over becomes the previous executable again, which restores the same state file.

import { execProgram } from "../platform/exec.ts";
import { blockSignals } from "../platform/linux/held-signals.ts";
import { readGate } from "../platform/read-gate.ts";
import { version } from "../util/version.ts";
import { bootstrapVariable, keepDescriptors, type TakeoverEnvironment } from "./bootstrap-environment.ts";
import type { Takeover } from "./restore/takeover.ts";

const failureMaxLength = 500;

/**
 * Returns only where no rollback is possible: the previous executable itself failed to restore the state, or the read
 * gate is open already, so that output may have been read that the state file does not have.
 */
export function rollBack(
  environment: TakeoverEnvironment,
  takeover: Takeover | undefined,
  error: unknown,
): void {
  if (environment.kind === "back" || (takeover && !readGate.whenOpen)) return;
  keepDescriptors(environment, true); // Bun marks all inherited descriptors close-on-exec when it starts
  blockSignals();
  const failure = (error instanceof Error ? error.message : String(error)).slice(0, failureMaxLength);
  const back: TakeoverEnvironment = { ...environment, kind: "back", failure, failedVersion: version };
  const env = { [bootstrapVariable]: JSON.stringify(back) };
  execProgram({ path: `/dev/fd/${environment.programFd}`, argv: environment.argv, env });
}
