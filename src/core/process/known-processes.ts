// Processes that the daemon has come to know, and whose they are; as they are handed to the program that comes, too.

import { type ProcessEntry, processTable } from "../../platform/process-table.ts";
import type { OwnershipState } from "../../upgrade/schema/document.ts";
import type { Owner } from "./tags.ts";

export interface Adopted {
  entry: ProcessEntry;
  owner: Owner | undefined;
}

export const processesOf = (known: Map<number, Adopted>): OwnershipState["adopted"] =>
  [...known].map(([pid, { entry, owner }]) => ({ pid, startTime: entry.startTime, owner }));

/** A dead one is ours to reap: it counts as long as its pid is its own. */
export function stillThere(known: OwnershipState["adopted"]): Map<number, Adopted> {
  const entries = known.flatMap(({ pid, startTime, owner }): [number, Adopted][] => {
    const entry = processTable.entry(pid);
    return entry?.startTime === startTime ? [[pid, { entry, owner: owner as Owner | undefined }]] : [];
  });
  return new Map(entries);
}
