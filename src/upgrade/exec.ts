// The switch itself: writes the state file and replaces this process image by the new executable.
import { closeSync, openSync } from "node:fs";
import { execProgram } from "../platform/exec.ts";
import type { BlockedSignals } from "../platform/linux/held-signals.ts";
import { keepAcrossExec } from "../platform/linux/inheritance.ts";
import { leaveDeletedDirectory, ownArguments, ownArgv, ownExecutable } from "../platform/own-program.ts";
import { version } from "../util/version.ts";
import { bootstrapVariable, type TakeoverEnvironment } from "./bootstrap-environment.ts";
import { type CheckedExecutable, requireExpressible } from "./check-executable.ts";
import { type DaemonState, serializeDaemon } from "./serialize/daemon-state.ts";
import { StateFile } from "./serialize/state-file.ts";

/**
 * Synchronous from the first line to the exec, so that the state cannot change after it was written. Returns or throws
 * only if the switch failed; nothing has changed then.
 */
export function execWithState(
  daemon: DaemonState,
  upgrades: number,
  executable: CheckedExecutable,
  signals: BlockedSignals,
): void {
  const programFd = openSync(ownExecutable, "r");
  let stateFile: StateFile | undefined;
  try {
    stateFile = new StateFile();
    const document = serializeDaemon(daemon, upgrades, stateFile);
    requireExpressible(document, executable);
    const sealed = stateFile.seal(document);
    const environment: TakeoverEnvironment = {
      kind: "forth",
      ...sealed,
      programFd,
      argv: ownArgv(),
      version,
    };
    keepAcrossExec(programFd, true);
    leaveDeletedDirectory();
    signals.carryOver();
    execFresh(executable.path, { [bootstrapVariable]: JSON.stringify(environment) });
  } finally {
    stateFile?.discard();
    closeSync(programFd);
  }
}

/** The executable with the flags of this daemon, without any state. Returns only if exec failed. */
export const execFresh = (path: string, env: Record<string, string> = {}): void =>
  execProgram({ path, argv: [path, ...ownArguments()], env });
