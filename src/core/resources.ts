// What the daemon itself uses of the machine, and whether there is room for more.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { totalmem } from "node:os";
import { TrlError } from "../protocol/errors.ts";
import {
  commandDescriptors,
  plentyMs,
  plentyOfDescriptors,
  replyFactor,
  reservedDescriptors,
} from "./limits.ts";

/** Where there is none left to look with, all are open. */
export function openDescriptors(): number {
  try {
    // Newer kernels tell it without being read; elsewhere it is no such number, or 0.
    const told = process.platform === "linux" ? statSync("/proc/self/fd").size : 0;
    return told || readdirSync("/dev/fd").length - 1; // one was open for this look
  } catch {
    return descriptorLimit();
  }
}

/** Free, less what is kept in reserve. */
export const descriptorsLeft = (): number => descriptorLimit() - reservedDescriptors - openDescriptors();

let plentyUntil = 0;

/** To be asked before something is started: in the middle of it there is no clean way back. */
export function requireDescriptors(): void {
  if (performance.now() < plentyUntil) return; // to look takes as long as a twentieth of a small command
  const left = descriptorsLeft();
  if (left >= plentyOfDescriptors) plentyUntil = performance.now() + plentyMs;
  if (left >= commandDescriptors) return;
  throw new TrlError(
    "RESOURCE_PRESSURE",
    `too few file descriptors are left (${openDescriptors()} of ${descriptorLimit()} are open)`,
  );
}

let knownMemory: number | undefined;

/** Of the machine, or of the control group that the daemon was started in. */
export function memoryLimit(): number {
  knownMemory ??= Math.min(process.constrainedMemory() || Infinity, totalmem());
  return knownMemory;
}

/** Who asks for more output than the machine can hold would end the daemon, and everybody else's commands. */
export function requireMemoryFor(outputBytes: number): void {
  const needed = outputBytes * replyFactor;
  if (needed < memoryLimit() / 8 || needed < memoryLimit() - residentBytes()) return; // mostly there is plenty
  const needs = `${asMb(needed)} of memory, and the daemon may have ${asMb(memoryLimit())}`;
  throw new TrlError("RESOURCE_PRESSURE", `max_output_bytes: a reply with so much may take ${needs}`);
}

const asMb = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MB`;

let lastResidentBytes = 0;

/** As it was last, where there is no descriptor left to look with. */
export function residentBytes(): number {
  try {
    lastResidentBytes = process.memoryUsage.rss();
  } catch {
    // the number of a moment ago says nearly the same
  }
  return lastResidentBytes;
}

let knownLimit: number | undefined;

/** The process's own limit on descriptors. */
export function descriptorLimit(): number {
  knownLimit ??= readDescriptorLimit();
  return knownLimit;
}

function readDescriptorLimit(): number {
  try {
    return Number(
      /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? fallbackLimit,
    );
  } catch {
    return fallbackLimit;
  }
}

/** What macOS gives a process that asks for no more. */
const fallbackLimit = 256;
