// The kernel's texts about control groups, from /proc.
import { readFileSync } from "node:fs";

export const readMounts = (): string => readOrEmpty("/proc/self/mountinfo");
export const readOwnCgroups = (): string => readOrEmpty("/proc/self/cgroup");

/** A file of the kernel that may be missing. */
export function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
