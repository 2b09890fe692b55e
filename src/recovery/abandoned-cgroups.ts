// Control groups that a killed daemon left behind. The daemon's run directory lists their paths. This file reads their
// members, kills them and removes the groups.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { cgroupListName } from "../core/isolation/cgroup.ts";
import { killPids, readPids, readText, removeNow, tryWrite } from "../core/isolation/cgroup-files.ts";

const attemptsMax = 100;
const attemptMs = 1;

export const cgroupMembers = (runDir: string, pid: number): number[] =>
  groupsOf(runDir, pid).flatMap((group) => readPids(join(group, "cgroup.procs")));

/** A daemon that was killed while it had frozen a group leaves it frozen, and frozen processes handle no signals. */
export function thawCgroups(runDir: string, pid: number): void {
  for (const group of groupsOf(runDir, pid)) {
    thawV1(group);
    if (readText(join(group, "cgroup.freeze")).trim() === "1") tryWrite(join(group, "cgroup.freeze"), 0);
  }
}

/** Kills all members and removes the groups. */
export async function removeCgroups(runDir: string, pid: number): Promise<void> {
  for (const group of groupsOf(runDir, pid)) await killAndRemove(group);
  for (const directory of directoriesOf(runDir, pid)) removeNow(directory);
}

async function killAndRemove(group: string): Promise<void> {
  for (let attempt = 0; attempt < attemptsMax && !removeNow(group); attempt++) {
    if (!tryWrite(join(group, "cgroup.kill"), 1)) killPids(readPids(join(group, "cgroup.procs")));
    thawV1(group);
    await Bun.sleep(attemptMs);
  }
}

const thawV1 = (group: string) => tryWrite(join(group, "freezer.state"), "THAWED");

/** Filters by name, so that a forged list cannot name a group that no daemon of that pid made. */
function directoriesOf(runDir: string, pid: number): string[] {
  const isItsOwn = new RegExp(`/trl-${pid}-\\d+(?:\\.daemon)?$`);
  return readText(join(runDir, cgroupListName))
    .split("\n")
    .filter((path) => isItsOwn.test(path));
}

function groupsOf(runDir: string, pid: number): string[] {
  return directoriesOf(runDir, pid).flatMap((directory) => {
    try {
      const entries = readdirSync(directory, { withFileTypes: true });
      return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(directory, name));
    } catch {
      return [];
    }
  });
}
