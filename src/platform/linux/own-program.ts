// The program that this process runs, from /proc.
import { readFileSync, readlinkSync } from "node:fs";

export const ownExecutable = "/proc/self/exe";

export function isWorkingDirectoryDeleted(): boolean {
  try {
    return readlinkSync("/proc/self/cwd").endsWith(" (deleted)");
  } catch {
    return false;
  }
}

export const runsOnMusl = (): boolean => readFileSync("/proc/self/maps", "latin1").includes("ld-musl");
