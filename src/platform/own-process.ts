// Memory and file descriptors of this process, and their limits.
import { readdirSync } from "node:fs";
import { totalmem } from "node:os";
import { limits, softLimit } from "./darwin/libproc.ts";
import * as linux from "./linux/own-process.ts";

const isLinux = process.platform === "linux";

/** The limit that macOS gives to a process by default, if the actual one cannot be read. */
const fallbackDescriptorLimit = 256;

/** If no descriptor is left to count with, all are open. */
export function openDescriptors(): number {
  try {
    // One descriptor is open for the listing itself.
    return (isLinux && linux.openDescriptors()) || readdirSync("/dev/fd").length - 1;
  } catch {
    return descriptorLimit();
  }
}

let knownDescriptorLimit: number | undefined;

export function descriptorLimit(): number {
  knownDescriptorLimit ??= readOwnLimits()?.openFiles || fallbackDescriptorLimit;
  return knownDescriptorLimit;
}

/** Counting takes a twentieth of the time of a small command. With this many free, the count holds for a while. */
const manyDescriptors = 2000;
const recountMs = 100;
let freeBefore = 0;
let recountAt = 0;

/** The number of free descriptors; while there are thousands, a count that is up to 100 ms old. */
export function freeDescriptors(): number {
  if (performance.now() < recountAt) return freeBefore;
  freeBefore = descriptorLimit() - openDescriptors();
  if (freeBefore >= manyDescriptors) recountAt = performance.now() + recountMs;
  return freeBefore;
}

export interface OwnLimits {
  openFiles: number;
  /** Of all processes of this user. Infinity if there is none. */
  processes: number;
}

/** The soft limits that the kernel enforces. Undefined if they cannot be read. */
export const readOwnLimits = (): OwnLimits | undefined =>
  isLinux ? linux.readOwnLimits() : readDarwinLimits();

/** More than any daemon opens: with no limit set, the kernel's own is not below. */
const unlimitedFiles = 10_240; // OPEN_MAX of macOS

function readDarwinLimits(): OwnLimits | undefined {
  const openFiles = softLimit(limits.openFiles);
  if (openFiles === undefined) return undefined;
  const processes = softLimit(limits.processes) ?? Number.POSITIVE_INFINITY;
  return { openFiles: Math.min(openFiles, unlimitedFiles), processes };
}

let knownMemoryLimit: number | undefined;

/** Of the machine, or of the control group that this process was started in. */
export function memoryLimit(): number {
  knownMemoryLimit ??= Math.min(process.constrainedMemory() || Infinity, totalmem());
  return knownMemoryLimit;
}

let lastResidentBytes = 0;

/** The previous value if no descriptor is free to read the current one. */
export function residentBytes(): number {
  try {
    lastResidentBytes = process.memoryUsage.rss();
  } catch {
    // without a free descriptor it cannot be read
  }
  return lastResidentBytes;
}
