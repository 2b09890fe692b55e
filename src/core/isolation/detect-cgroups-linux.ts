// Detects the control groups that the daemon can use: their mount points, the daemon's own groups, and whether it may
// create groups below them.
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { type CgroupPaths, ownCgroupPaths, type V1Parents } from "../../platform/linux/cgroup-paths.ts";
import { processTable } from "../../platform/process-table.ts";
import type { CgroupsState } from "../../upgrade/schema/document.ts";
import { type Cgroups, controllers, type Shortcoming } from "./cgroup.ts";
import { readPids } from "./cgroup-files.ts";
import { CgroupsV1 } from "./cgroup-v1-linux.ts";
import { CgroupsV2, controllersIn, enablesControllers } from "./cgroup-v2-linux.ts";

const scopeRemedy =
  "start the daemon in a scope of its own: systemd-run --user --scope -p Delegate=yes trl serve (as root without --user), or as the only program of its container";

export function detectCgroups(name: string): Cgroups | Shortcoming {
  return chooseCgroups(ownCgroupPaths(), name, isOurs);
}

/** Restores the groups after an upgrade. */
export const restoreCgroups = (state: CgroupsState): Cgroups =>
  state.version === "v1" ? CgroupsV1.from(state) : CgroupsV2.from(state);

/** Prefers version 2 if it has controllers. A machine with both versions usually has its controllers in version 1. */
export function chooseCgroups(
  { v1, v2 }: CgroupPaths,
  name: string,
  isOwn: (pid: number) => boolean,
): Cgroups | Shortcoming {
  const inV2 = v2 ? controllersIn(join(v2.path, "cgroup.controllers")) : [];
  if (v2 && inV2.length > 0) {
    const shortcoming = v2Shortcoming(v2, isOwn);
    return shortcoming ?? new CgroupsV2(v2.path, name, v2.isRoot);
  }
  const writable = Object.fromEntries(Object.entries(v1).filter(([, path]) => isWritable(path))) as V1Parents;
  if (controllers.some((controller) => writable[controller] !== undefined))
    return new CgroupsV1(writable, name);
  const closed = controllers.map((controller) => v1[controller]).find((path) => path !== undefined);
  if (closed !== undefined)
    return {
      reason: `the control groups of version 1 may not be written to (${closed})`,
      remedy:
        "run the daemon as root, in a container with its control groups mounted writable (--cgroupns private, rw)",
    };
  if (!v2)
    return {
      reason: "no control groups are mounted",
      remedy: "mount cgroup2 on /sys/fs/cgroup, or boot with it",
    };
  return { reason: `no controllers are enabled for the daemon's group (${v2.path})`, remedy: scopeRemedy };
}

function v2Shortcoming(
  { path, isRoot }: NonNullable<CgroupPaths["v2"]>,
  isOwn: (pid: number) => boolean,
): Shortcoming | undefined {
  const needed = [path, join(path, "cgroup.procs"), join(path, "cgroup.subtree_control")];
  const closed = needed.find((file) => !isWritable(file));
  if (closed)
    return { reason: `the daemon's control group may not be written to (${closed})`, remedy: scopeRemedy };
  if (isRoot || enablesControllers(path, new Set(controllersIn(join(path, "cgroup.controllers")))))
    return undefined;
  const foreign = readPids(join(path, "cgroup.procs")).filter((pid) => !isOwn(pid));
  if (foreign.length === 0) return undefined;
  const reason = `the daemon shares its control group with ${foreign.length} other processes (${path}), so it cannot have groups of its own`;
  return { reason, remedy: scopeRemedy };
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The daemon or one of its descendants. */
function isOurs(pid: number): boolean {
  for (let at: number | undefined = pid; at !== undefined && at > 1; at = processTable.entry(at)?.ppid)
    if (at === process.pid) return true;
  return false;
}
