// The limit of processes that applies to this process: of its user, and of its control groups.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { ownCgroupPaths } from "./cgroup-paths.ts";
import { readOrEmpty } from "./cgroups.ts";

/** A fork bomb reaches this many within seconds; with a higher limit the machine runs out of memory first. */
const fewProcesses = 8192;

/** Whether one session can take all processes that the user or the service may have. */
export const hasFewProcesses = (): boolean => processLimit() <= fewProcesses;

function processLimit(): number {
  const { v1, v2 } = ownCgroupPaths();
  const limits = [v1.pids, v2?.path].flatMap((path) => (path === undefined ? [] : limitsFrom(path)));
  return Math.min(userLimit(), ...limits);
}

/** The kernel does not enforce the limit for root. */
function userLimit(): number {
  if (process.getuid?.() === 0) return Infinity;
  const [, limit] = /^Max processes\s+(\d+)/m.exec(readOrEmpty("/proc/self/limits")) ?? [];
  return Number(limit ?? Infinity);
}

/** Of a group and its ancestors; the root group has none, and "max" means none. */
function limitsFrom(group: string): number[] {
  const limits: number[] = [];
  for (let at = group; existsSync(join(at, "cgroup.procs")); at = dirname(at)) limits.push(pidsMax(at));
  return limits;
}

function pidsMax(group: string): number {
  const text = readOrEmpty(join(group, "pids.max")).trim();
  return /^\d+$/.test(text) ? Number(text) : Infinity;
}
