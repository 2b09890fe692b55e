// Where this user or this service may have few processes, one session can take them all.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { readMounts, readOwnCgroups } from "../../platform/cgroups.ts";
import { readOwnLimits } from "../../platform/own-process.ts";
import { readNumber } from "./cgroup-files.ts";
import { findCgroupPaths } from "./detect-cgroups-linux.ts";

/** A runaway is there within seconds; with more, the machine's memory ends first. */
const fewProcesses = 8192;

export const hasFewProcesses = (): boolean => processLimit() <= fewProcesses;

/** Of the user, or of the control groups that the daemon is in; root's own limit is not kept by the kernel. */
function processLimit(): number {
  const { v1, v2 } = findCgroupPaths(readMounts(), readOwnCgroups());
  const limits = [v1.pids, v2?.path].flatMap((path) => (path === undefined ? [] : limitsFrom(path)));
  return Math.min(process.getuid?.() === 0 ? Infinity : (readOwnLimits()?.processes ?? Infinity), ...limits);
}

/** Of a group and those above it; the root has none. */
function limitsFrom(group: string): number[] {
  const limits: number[] = [];
  for (let at = group; existsSync(join(at, "cgroup.procs")); at = dirname(at))
    limits.push(readNumber(join(at, "pids.max")) ?? Infinity);
  return limits;
}
