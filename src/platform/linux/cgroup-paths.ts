// Finds the control groups of this process: their directories in the mounted hierarchies.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { readMounts, readOwnCgroups } from "./cgroups.ts";

/** Controllers of version 1 that trl uses. */
const v1Controllers = ["memory", "cpu", "pids", "cpuacct", "freezer"] as const;
export type V1Controller = (typeof v1Controllers)[number];

/** The process's own group in each mounted hierarchy. Several controllers may share a hierarchy. */
export type V1Parents = Partial<Record<V1Controller, string>>;

export interface CgroupPaths {
  v1: V1Parents;
  /** The process's own group of version 2, and whether it is the root of that hierarchy. */
  v2: { path: string; isRoot: boolean } | undefined;
}

export const ownCgroupPaths = (): CgroupPaths => findCgroupPaths(readMounts(), readOwnCgroups());

/** Paths in /proc/self/cgroup are relative to the root of the hierarchy; a mount may show only a subtree. */
export function findCgroupPaths(mountinfo: string, ownGroups: string): CgroupPaths {
  const groups = ownGroups
    .split("\n")
    .map((line) => /^(\d+):([^:]*):(.*)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, , names, path]) => ({ names: names!.split(",").filter(Boolean), path: path! }));
  const paths: CgroupPaths = { v1: {}, v2: undefined };
  for (const { root, at, type, options } of parseMounts(mountinfo)) {
    if (type === "cgroup2") {
      const own = groups.find(({ names }) => names.length === 0);
      const path = own && pathIn(at, root, own.path);
      if (path) paths.v2 ??= { path, isRoot: !existsSync(join(path, "cgroup.type")) };
    }
    if (type !== "cgroup") continue;
    for (const controller of v1Controllers.filter((name) => options.includes(name))) {
      const own = groups.find(({ names }) => names.includes(controller));
      const path = own && pathIn(at, root, own.path);
      if (path) paths.v1[controller] ??= path;
    }
  }
  return paths;
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

/** The kernel escapes spaces and similar characters as octal numbers. */
const unescaped = (path: string) =>
  path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

function pathIn(mountPoint: string, mountRoot: string, path: string): string | undefined {
  if (path.split("/").includes("..")) return undefined; // outside of what this namespace shows
  const base = mountRoot === "/" ? "" : mountRoot;
  if (path !== base && !path.startsWith(`${base}/`)) return undefined;
  return resolve(mountPoint, `.${path.slice(base.length)}`);
}
