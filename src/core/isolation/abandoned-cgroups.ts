// Control groups that a killed daemon left behind: their paths lie in its run directory. Whoever is still in them is
// ended, and they are removed.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { killPids, readPids, readText, removeNow, tryWrite } from "./cgroup-files.ts";

/** The file in a run directory that names the groups of its daemon. */
export const recordName = "cgroups";

/** Only what a daemon of that pid has made. */
export function sweepCgroups(runDir: string, pid: number): void {
  const isItsOwn = new RegExp(`/trl-${pid}-\\d+(?:\\.daemon)?$`);
  const directories = readText(join(runDir, recordName))
    .split("\n")
    .filter((path) => isItsOwn.test(path));
  for (const directory of directories) {
    for (const group of groupsIn(directory)) sweep(group);
    removeNow(directory);
  }
}

function sweep(group: string): void {
  for (let attempt = 0; attempt < 100 && !removeNow(group); attempt++) {
    if (!tryWrite(join(group, "cgroup.kill"), 1)) killPids(readPids(join(group, "cgroup.procs")));
    tryWrite(join(group, "freezer.state"), "THAWED");
    Bun.sleepSync(1);
  }
}

function groupsIn(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(directory, name));
  } catch {
    return [];
  }
}
