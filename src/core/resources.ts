// Refuses work that would exhaust the daemon's descriptors or memory.

import {
  descriptorLimit,
  freeDescriptors,
  memoryLimit,
  openDescriptors,
  residentBytes,
} from "../platform/own-process.ts";
import { TrlError } from "../protocol/errors.ts";
import { commandDescriptors, replyFactor, reservedDescriptors } from "./limits.ts";

/** Free descriptors without the reserve. */
export const descriptorsLeft = (): number => descriptorLimit() - reservedDescriptors - openDescriptors();

/** Called before anything is started: halfway through there is no clean rollback. */
export function requireDescriptors(): void {
  if (freeDescriptors() - reservedDescriptors >= commandDescriptors) return;
  throw new TrlError(
    "RESOURCE_PRESSURE",
    `too few file descriptors are left (${openDescriptors()} of ${descriptorLimit()} are open)`,
  );
}

/** A reply that does not fit into memory would end the daemon, and the commands of all clients with it. */
export function requireMemoryFor(outputBytes: number): void {
  const needed = outputBytes * replyFactor;
  if (needed < memoryLimit() / 8 || needed < memoryLimit() - residentBytes()) return;
  const needs = `${asMb(needed)} of memory, and the daemon may have ${asMb(memoryLimit())}`;
  throw new TrlError("RESOURCE_PRESSURE", `max_output_bytes: a reply with so much may take ${needs}`);
}

const asMb = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MB`;
