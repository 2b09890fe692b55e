// Control groups that a killed daemon left behind: their paths lie in its run directory. Whoever is still in them is
// ended, and they are removed.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { killPids, readPids, readText, removeNow, tryWrite } from "../core/isolation/cgroup-files.ts";

/** The file in a run directory that names the groups of its daemon. */
export const recordName = "cgroups";

const attemptsMax = 100;
const attemptMs = 1;

/** Who is in them. */
export const membersOf = (runDir: string, pid: number): number[] =>
  groupsOf(runDir, pid).flatMap((group) => readPids(join(group, "cgroup.procs")));

/** The daemon may have been killed while it held them still; then they hear nothing. */
export function thaw(runDir: string, pid: number): void {
  for (const group of groupsOf(runDir, pid)) {
    tryToThaw(group);
    if (readText(join(group, "cgroup.freeze")).trim() === "1") tryWrite(join(group, "cgroup.freeze"), 0);
  }
}

/** Nobody is in them and they are gone when it resolves. */
export async function sweepCgroups(runDir: string, pid: number): Promise<void> {
  for (const group of groupsOf(runDir, pid)) await sweep(group);
  for (const directory of directoriesOf(runDir, pid)) removeNow(directory);
}

async function sweep(group: string): Promise<void> {
  for (let attempt = 0; attempt < attemptsMax && !removeNow(group); attempt++) {
    if (!tryWrite(join(group, "cgroup.kill"), 1)) killPids(readPids(join(group, "cgroup.procs")));
    tryToThaw(group);
    await Bun.sleep(attemptMs);
  }
}

const tryToThaw = (group: string) => tryWrite(join(group, "freezer.state"), "THAWED");

/** Only what a daemon of that pid has made. */
function directoriesOf(runDir: string, pid: number): string[] {
  const isItsOwn = new RegExp(`/trl-${pid}-\\d+(?:\\.daemon)?$`);
  return readText(join(runDir, recordName))
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
