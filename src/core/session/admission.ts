// Refuses new sessions and commands when the daemon or the session has reached a limit.

import { descriptorLimit, openDescriptors, residentBytes } from "../../platform/own-process.ts";
import { type ProcessEntry, processTable } from "../../platform/process-table.ts";
import { TrlError } from "../../protocol/errors.ts";
import type { Log } from "../log.ts";
import type { CoreOptions } from "../options.ts";
import { runToEnd, type Steps } from "../process/time-slicer.ts";
import type { Session } from "./session.ts";
import type { SessionSpec } from "./session-spec.ts";

/** Refuses new sessions only, so that existing sessions can finish their work. */
export function refuseUnderPressure(options: CoreOptions, log: Log): void {
  const fds = openDescriptors();
  const threshold = options.fdWarningThreshold || Math.floor(descriptorLimit() * 0.8);
  if (fds >= threshold) {
    log.warn("file descriptors are running low", { open: fds, threshold });
    throw new TrlError("RESOURCE_PRESSURE", `${fds} file descriptors are open (threshold ${threshold})`);
  }
  const residentMb = Math.round(residentBytes() / 1024 / 1024);
  if (options.memoryPressureMb > 0 && residentMb >= options.memoryPressureMb) {
    log.warn("memory is running low", { residentMb, threshold: options.memoryPressureMb });
    throw new TrlError(
      "RESOURCE_PRESSURE",
      `the daemon holds ${residentMb} MB (limit ${options.memoryPressureMb})`,
    );
  }
}

/** Throws if the session cannot run another command now. */
export function refuseIfUnavailable({ id, state, commandCount, spec }: Session): void {
  const { commands, options } = spec.context;
  const { sessionMaxCommands: maxCommands, sessionMaxProcesses: maxProcesses } = options;
  if (commands.isClosed) throw new TrlError("RUNTIME_UNAVAILABLE", "the daemon is about to be upgraded");
  if (state === "terminated") throw new TrlError("SESSION_NOT_FOUND", `session ${id} has ended`);
  if (state === "running") throw new TrlError("SESSION_BUSY", `session ${id} is running a command`);
  if (maxCommands > 0 && commandCount >= maxCommands) {
    throw new TrlError("SESSION_LIMIT_EXCEEDED", `session ${id} has run its ${maxCommands} commands`);
  }
  const leftovers = maxProcesses > 0 ? runToEnd(countProcesses(spec)).leftovers : 0;
  if (maxProcesses > 0 && leftovers >= maxProcesses) {
    throw new TrlError(
      "RESOURCE_PRESSURE",
      `session ${id} has ${leftovers} processes running, the limit is ${maxProcesses}`,
    );
  }
}

interface ProcessCounts {
  all: number;
  /** Without the warm shell and the running command. */
  leftovers: number;
}

/** Counts the processes of a session, without those of the sandbox program. */
export function* countProcesses({ id, sessionIsolation, context }: SessionSpec): Steps<ProcessCounts> {
  const { members } = yield* context.ownership.scanSteps({ sessionId: id });
  const own: ProcessEntry[] = [];
  for (const member of members) {
    if (!sessionIsolation?.isSandboxProcess(processTable.commandLine(member.pid))) own.push(member);
    if (sessionIsolation) yield;
  }
  const leftovers = new Set(context.ownership.leftoversAmong(members));
  return { all: own.length, leftovers: own.filter((member) => leftovers.has(member)).length };
}
