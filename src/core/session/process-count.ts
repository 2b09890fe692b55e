// How many processes a session has; the machinery that keeps them does not count.

import { type ProcessEntry, processTable } from "../../platform/process-table.ts";
import { runToEnd, type Steps } from "../process/time-slicer.ts";
import type { SessionSpec } from "./session-spec.ts";

interface ProcessCounts {
  all: number;
  /** Without the shell that waits, and the command that runs. */
  leftovers: number;
}

export function* countProcesses({ id, sessionIsolation, context }: SessionSpec): Steps<ProcessCounts> {
  const { members } = yield* context.ownership.scanSteps({ sessionId: id });
  const own: ProcessEntry[] = [];
  for (const member of members) {
    if (!sessionIsolation?.isMachinery(processTable.commandLine(member.pid))) own.push(member);
    if (sessionIsolation) yield;
  }
  const leftovers = new Set(context.ownership.leftoversAmong(members));
  return { all: own.length, leftovers: own.filter((member) => leftovers.has(member)).length };
}

/** Before each command of a session whose processes are limited in number. */
export const leftoverCount = (spec: SessionSpec): number => runToEnd(countProcesses(spec)).leftovers;
