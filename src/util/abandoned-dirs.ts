// Private directories that are named after the daemon that made them: `trl-PID-xxxxxx`. Those of daemons that are gone
// are removed by the next one.
import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { forOwnerAlone } from "./private-files.ts";

/** Readable by its owner alone. */
export const makeOwnDir = (base: string): string =>
  forOwnerAlone(() => mkdtempSync(join(base, `trl-${process.pid}-`)));

export function removeAbandonedDirs(
  base: string,
  before: (path: string, pid: number) => void = () => {},
): void {
  for (const name of readdirSync(base)) {
    const pid = Number(/^trl-(\d+)-\w{6}$/.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(pid) || isAlive(pid)) continue;
    const path = join(base, name);
    if (lstatSync(path).uid !== process.getuid?.()) continue;
    before(path, pid);
    rmSync(path, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
