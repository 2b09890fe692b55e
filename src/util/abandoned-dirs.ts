// Private directories that are named after the daemon that made them: `trl-PID-xxxxxx`. Those of daemons that are gone
// are removed by the next one.
import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { forOwnerAlone } from "./private-files.ts";

export interface AbandonedDir {
  path: string;
  /** Of the daemon that made it. */
  pid: number;
}

/** Readable by its owner alone. */
export const makeOwnDir = (base: string): string =>
  forOwnerAlone(() => mkdtempSync(join(base, `trl-${process.pid}-`)));

/** Ours, of daemons that are not there any more. */
export function abandonedDirs(base: string): AbandonedDir[] {
  return namesIn(base).flatMap((name) => {
    const pid = Number(/^trl-(\d+)-\w{6}$/.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(pid) || isAlive(pid)) return [];
    const path = join(base, name);
    return lstatSync(path, { throwIfNoEntry: false })?.uid === process.getuid?.() ? [{ path, pid }] : [];
  });
}

export function removeAbandonedDirs(base: string): void {
  for (const { path } of abandonedDirs(base)) rmSync(path, { recursive: true, force: true });
}

function namesIn(base: string): string[] {
  try {
    return readdirSync(base);
  } catch {
    return []; // not there, or not to be looked into
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
