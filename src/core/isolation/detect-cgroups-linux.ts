// Which control groups this machine has for us: where they are mounted, where the daemon is in them, and whether it
// may make groups of its own there.
import { accessSync, constants, existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { readMounts, readOwnCgroups } from "../../platform/cgroups.ts";
import { processTable } from "../../platform/process-table.ts";
import type { CgroupsState } from "../../upgrade/schema/document.ts";
import { type Cgroups, controllers, type Shortcoming } from "./cgroup.ts";
import { readPids } from "./cgroup-files.ts";
import { CgroupsV1, type V1Parents, v1Controllers } from "./cgroup-v1-linux.ts";
import { CgroupsV2, controllersIn, handsOn } from "./cgroup-v2-linux.ts";

export interface CgroupPaths {
  v1: V1Parents;
  /** The daemon's own group of version 2, and whether it is the root of that hierarchy. */
  v2: { path: string; isRoot: boolean } | undefined;
}

const scopeRemedy =
  "start the daemon in a scope of its own: systemd-run --user --scope -p Delegate=yes trl serve (as root without --user), or as the only program of its container";

export function detectCgroups(name: string): Cgroups | Shortcoming {
  return chooseCgroups(findCgroupPaths(readMounts(), readOwnCgroups()), name, isOurs);
}

/** As a daemon that has become this one had them. */
export const knownCgroups = (state: CgroupsState): Cgroups =>
  state.version === "v1" ? CgroupsV1.from(state) : CgroupsV2.from(state);

/** Version 2 where it has what is needed; a machine with both keeps its controllers in version 1 as a rule. */
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
  const open = Object.fromEntries(Object.entries(v1).filter(([, path]) => isWritable(path))) as V1Parents;
  if (controllers.some((controller) => open[controller] !== undefined)) return new CgroupsV1(open, name);
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
  return { reason: `no controllers are handed on to the daemon's group (${v2.path})`, remedy: scopeRemedy };
}

function v2Shortcoming(
  { path, isRoot }: NonNullable<CgroupPaths["v2"]>,
  isOwn: (pid: number) => boolean,
): Shortcoming | undefined {
  const needed = [path, join(path, "cgroup.procs"), join(path, "cgroup.subtree_control")];
  const closed = needed.find((file) => !isWritable(file));
  if (closed)
    return { reason: `the daemon's control group may not be written to (${closed})`, remedy: scopeRemedy };
  if (isRoot || handsOn(path, new Set(controllersIn(join(path, "cgroup.controllers"))))) return undefined;
  const foreign = readPids(join(path, "cgroup.procs")).filter((pid) => !isOwn(pid));
  if (foreign.length === 0) return undefined;
  const reason = `the daemon shares its control group with ${foreign.length} other processes (${path}), so that it cannot be divided`;
  return { reason, remedy: scopeRemedy };
}

/** Paths in /proc/self/cgroup are seen from the root of the hierarchy; a mount may show only a part of it. */
export function findCgroupPaths(mountinfo: string, ownGroups: string): CgroupPaths {
  const groups = ownGroups
    .split("\n")
    .map((line) => /^(\d+):([^:]*):(.*)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, , names, path]) => ({ names: names!.split(",").filter(Boolean), path: path! }));
  const places: CgroupPaths = { v1: {}, v2: undefined };
  for (const { root, at, type, options } of parseMounts(mountinfo)) {
    if (type === "cgroup2") {
      const own = groups.find(({ names }) => names.length === 0);
      const path = own && placeIn(at, root, own.path);
      if (path) places.v2 ??= { path, isRoot: !existsSync(join(path, "cgroup.type")) };
    }
    if (type !== "cgroup") continue;
    for (const controller of v1Controllers.filter((name) => options.includes(name))) {
      const own = groups.find(({ names }) => names.includes(controller));
      const path = own && placeIn(at, root, own.path);
      if (path) places.v1[controller] ??= path;
    }
  }
  return places;
}

interface Mount {
  root: string;
  at: string;
  type: string;
  options: string[];
}

/** "36 35 0:30 /root /mount/point rw,... shared:1 - type source options" */
function parseMounts(mountinfo: string): Mount[] {
  return mountinfo.split("\n").flatMap((line) => {
    const [before, after] = line.split(" - ");
    const [, , , root, at] = before!.split(" ");
    const [type, , options] = after?.split(" ") ?? [];
    if (!root || !at || !type || !options) return [];
    return { root: unescaped(root), at: unescaped(at), type, options: options.split(",") };
  });
}

/** Spaces and the like are written as octal numbers. */
const unescaped = (path: string) =>
  path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

function placeIn(mountPoint: string, mountRoot: string, path: string): string | undefined {
  if (path.split("/").includes("..")) return undefined; // outside of what this namespace shows
  const base = mountRoot === "/" ? "" : mountRoot;
  if (path !== base && !path.startsWith(`${base}/`)) return undefined;
  return resolve(mountPoint, `.${path.slice(base.length)}`);
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The daemon, or what it has started. */
function isOurs(pid: number): boolean {
  for (let at: number | undefined = pid; at !== undefined && at > 1; at = processTable.entry(at)?.ppid)
    if (at === process.pid) return true;
  return false;
}
