// Control groups: which version, which controllers, and may we make groups of our own?
import { mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { readMounts, readOwnCgroups } from "../../platform/cgroups.ts";
import { type Finding, note, ok } from "./check.ts";

/** Those that limit memory, processor time and the number of processes. */
const wanted = ["memory", "cpu", "pids"];

interface Mount {
  place: string;
  /** What of the hierarchy is to be seen there. */
  root: string;
  type: string;
  controllers: string[];
}

export const checkCgroups = (): Finding => examine(readMounts(), readOwnCgroups());

/** By the texts of the kernel about what is mounted and which groups are ours. */
export function examine(mountinfo: string, groups: string): Finding {
  const mounts = cgroupMounts(mountinfo);
  const first = mounts.filter(({ controllers }) => controllers.some((name) => wanted.includes(name)));
  const second = mounts.find(({ type }) => type === "cgroup2");
  if (first.length > 0) return checkFirst(first, groups);
  if (second) return checkSecond(second, groups);
  return note("no control groups are mounted: sessions cannot be limited by them", {
    remedy: "in a container: mount /sys/fs/cgroup into it",
  });
}

function checkFirst(mounts: Mount[], groups: string): Finding {
  const writable = mounts.filter((mount) => canMakeGroup(ownGroup(mount, groups)));
  const names = (list: Mount[]) =>
    list.flatMap(({ controllers }) => controllers).filter((it) => wanted.includes(it));
  const missing = wanted.filter((name) => !names(writable).includes(name));
  const summary = `control groups, version 1: ${names(mounts).join(", ")}`;
  if (missing.length === 0) return ok(`${summary}; groups can be made`);
  return note(`${summary}; no group can be made for ${missing.join(", ")}`, {
    remedy: "with version 1 only root can; boot with systemd.unified_cgroup_hierarchy=1 for version 2",
  });
}

function checkSecond(mount: Mount, groups: string): Finding {
  const own = ownGroup(mount, groups);
  const controllers = readFileSync(join(own, "cgroup.controllers"), "utf8").trim().split(" ").filter(Boolean);
  const summary = `control groups, version 2: ${controllers.join(", ") || "no controllers"}`;
  const remedy =
    "let systemd delegate them: trl service install, or systemd-run --user --scope -p Delegate=yes trl serve";
  if (!canMakeGroup(own)) return note(`${summary}; no group can be made in ${own}`, { remedy });
  const missing = wanted.filter((name) => !controllers.includes(name));
  if (missing.length > 0)
    return note(`${summary}; ${missing.join(", ")} not delegated to ${own}`, { remedy });
  return ok(`${summary}; delegated to ${own}`);
}

/** proc(5): id parent device ROOT PLACE options ... - TYPE source CONTROLLERS */
function cgroupMounts(mountinfo: string): Mount[] {
  return mountinfo.split("\n").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ");
    const [, , , root, place] = before.split(" ");
    const [type, , options = ""] = after.split(" ");
    if (!root || !place || !type?.startsWith("cgroup")) return [];
    return [{ root, place, type, controllers: type === "cgroup" ? options.split(",") : [] }];
  });
}

/** Where our own group is to be seen. Each line of the list is ID:CONTROLLERS:PATH, without controllers for version 2. */
function ownGroup({ place, root, type, controllers }: Mount, groups: string): string {
  const path = groups.split("\n").flatMap((line) => {
    const [, names = "", ...rest] = line.split(":");
    const isIt =
      type === "cgroup2" ? names === "" : names.split(",").some((name) => controllers.includes(name));
    return isIt && rest.length > 0 ? [rest.join(":")] : [];
  })[0];
  const below = path?.startsWith(root) && root !== "/" ? path.slice(root.length) : (path ?? "");
  return join(place, below);
}

/** By making one: an owner or a mode does not tell of read-only mounts and namespaces. */
function canMakeGroup(parent: string): boolean {
  const group = join(parent, `trl-doctor-${process.pid}`);
  try {
    mkdirSync(group);
    rmdirSync(group);
    return true;
  } catch {
    return false;
  }
}
