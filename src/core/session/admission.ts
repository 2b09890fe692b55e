// Why a session cannot run one more command now.
import { TrlError } from "../../protocol/errors.ts";
import { leftoverCount } from "./process-count.ts";
import type { Session } from "./session.ts";

export function refuseIfUnavailable({ id, state, commandCount, spec }: Session): void {
  const { commands, options } = spec.context;
  const { sessionMaxCommands: maxCommands, sessionMaxProcesses: maxProcesses } = options;
  if (commands.isClosed) throw new TrlError("RUNTIME_UNAVAILABLE", "the daemon is about to be upgraded");
  if (state === "terminated") throw new TrlError("SESSION_NOT_FOUND", `session ${id} has ended`);
  if (state === "running") throw new TrlError("SESSION_BUSY", `session ${id} is running a command`);
  if (maxCommands > 0 && commandCount >= maxCommands) {
    throw new TrlError("SESSION_LIMIT_EXCEEDED", `session ${id} has run its ${maxCommands} commands`);
  }
  const left = maxProcesses > 0 ? leftoverCount(spec) : 0;
  if (maxProcesses > 0 && left >= maxProcesses) {
    throw new TrlError(
      "RESOURCE_PRESSURE",
      `session ${id} has ${left} processes running, the limit is ${maxProcesses}`,
    );
  }
}
