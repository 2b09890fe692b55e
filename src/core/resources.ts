// What the daemon itself uses of the machine.
import { readdirSync, readFileSync } from "node:fs";

export function openDescriptors(): number {
  try {
    return readdirSync("/dev/fd").length - 1; // one was open for this look
  } catch {
    return 0;
  }
}

export const residentBytes = (): number => process.memoryUsage.rss();

/** The process's own limit on descriptors. */
export function descriptorLimit(): number {
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
