// How many processes a session has; the machinery that keeps them does not count.
import { type ProcessEntry, processTable } from "../process/process-table.ts";
import type { SessionSpec } from "./session-spec.ts";

export const processCount = (spec: SessionSpec): number =>
  count(spec, spec.context.custody.membersOf({ sessionId: spec.id }));

/** Without the shell that waits, and the command that runs. */
export const leftoverCount = (spec: SessionSpec): number =>
  count(spec, spec.context.custody.leftoversIn(spec.id));

function count({ enclosure }: SessionSpec, processes: ProcessEntry[]): number {
  if (!enclosure) return processes.length;
  return processes.filter(({ pid }) => !enclosure.isMachinery(processTable.commandLine(pid))).length;
}
