// Descriptors and limits of this process, from /proc.
import { readFileSync, statSync } from "node:fs";
import type { OwnLimits } from "../own-process.ts";

/** Kernels since 6.2 report the count as the size of the directory; older ones report 0. */
export const openDescriptors = (): number => statSync("/proc/self/fd").size;

export function readOwnLimits(): OwnLimits | undefined {
  try {
    const text = readFileSync("/proc/self/limits", "utf8");
    const softLimit = (name: string) => {
      const soft = new RegExp(`^Max ${name}\\s+(\\S+)`, "m").exec(text)?.[1];
      return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
    };
    return { openFiles: softLimit("open files"), processes: softLimit("processes") };
  } catch {
    return undefined;
  }
}
