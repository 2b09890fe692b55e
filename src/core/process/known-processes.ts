// Processes with a known owner, and their form in the upgrade state.

import { type ProcessEntry, processTable } from "../../platform/process-table.ts";
import type { OwnershipState } from "../../upgrade/schema/document.ts";
import type { Owner } from "./tags.ts";

export interface KnownProcess {
  entry: ProcessEntry;
  owner: Owner | undefined;
}

export const packProcesses = (known: Map<number, KnownProcess>): OwnershipState["adopted"] =>
  [...known].map(([pid, { entry, owner }]) => ({ pid, startTime: entry.startTime, owner }));

/** Drops entries with a pid that has been reused. Zombies stay, because this process has to reap them. */
export function unpackProcesses(known: OwnershipState["adopted"]): Map<number, KnownProcess> {
  const entries = known.flatMap(({ pid, startTime, owner }): [number, KnownProcess][] => {
    const entry = processTable.entry(pid);
    return entry?.startTime === startTime ? [[pid, { entry, owner: owner as Owner | undefined }]] : [];
  });
  return new Map(entries);
}
