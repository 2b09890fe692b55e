// Private directories, named after the process that created them: `trl-PID-xxxxxx`. The next daemon removes those of
// processes that have ended. A name proves nothing: only a directory with a valid mark file is ever removed.

import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { withPrivateUmask } from "../util/private-files.ts";
import { ownPidScope } from "./pid-namespace.ts";
import { startTimeOf } from "./start-time.ts";

export interface AbandonedDir {
  path: string;
  /** Of the process that created it. */
  pid: number;
}

/** Identifies the process that created a directory: the pid alone may be reused, or be of another container. */
interface Mark {
  pid: number;
  startTime: string;
  /** The pid scope. */
  world: string;
}

const dirName = /^trl-(\d+)-\w{6}$/;
/** Whether a path has the name of a private directory; the directory itself may belong to any user. */
export const hasOwnDirName = (path: string): boolean => dirName.test(basename(path));

const markName = ".trl";
const markBytesMax = 1024;

/** Creates a directory with mode 0700 and a mark. */
export function makeOwnDir(base: string): string {
  return withPrivateUmask(() => {
    const path = mkdtempSync(join(base, `trl-${process.pid}-`));
    try {
      writeFileSync(join(path, markName), `${JSON.stringify(ownMark())}\n`, { flag: "wx" });
    } catch (error) {
      rmSync(path, { recursive: true, force: true });
      throw error;
    }
    return path;
  });
}

/** Directories of this user that were created in this pid scope by processes that have ended. */
export function abandonedDirs(base: string): AbandonedDir[] {
  const world = ownPidScope();
  return namesIn(base).flatMap((name) => {
    const path = join(base, name);
    const mark = markOf(path);
    return mark && mark.world === world && !isAlive(mark) ? [{ path, pid: mark.pid }] : [];
  });
}

export function removeAbandonedDirs(base: string): void {
  for (const { path } of abandonedDirs(base)) rmSync(path, { recursive: true, force: true });
}

/** Removes the directory, also if its process runs; does nothing if it has no valid mark. */
export function removeOwnDir(path: string): void {
  if (markOf(path)) rmSync(path, { recursive: true, force: true });
}

let ownMarkFields: { [Name in keyof Mark]: Mark[Name] | undefined } | undefined;

/** Incomplete if the system does not provide a field: such a mark is invalid, and the directory stays for good. */
function ownMark(): NonNullable<typeof ownMarkFields> {
  ownMarkFields ??= { pid: process.pid, startTime: startTimeOf(process.pid), world: ownPidScope() };
  return ownMarkFields;
}

/** Undefined unless it is a private directory of this user with a complete mark of the process in its name. */
function markOf(path: string): Mark | undefined {
  const pid = dirName.exec(basename(path))?.[1];
  if (pid === undefined) return undefined;
  try {
    const stat = lstatSync(path);
    if (!stat.isDirectory() || !isOfThisUser(stat) || (stat.mode & 0o777) !== 0o700) return undefined;
    const file = lstatSync(join(path, markName));
    if (!file.isFile() || !isOfThisUser(file) || file.size > markBytesMax) return undefined;
    const mark: unknown = JSON.parse(readFileSync(join(path, markName), "utf8"));
    return isMark(mark) && String(mark.pid) === pid ? mark : undefined;
  } catch {
    return undefined; // removed meanwhile, without a mark, or with a partial one
  }
}

function isMark(value: unknown): value is Mark {
  const { pid, startTime, world } = (value ?? {}) as Record<string, unknown>;
  return Number.isSafeInteger(pid) && typeof startTime === "string" && typeof world === "string";
}

const isOfThisUser = ({ uid }: { uid: number }) => uid === process.getuid?.();

function namesIn(base: string): string[] {
  try {
    return readdirSync(base);
  } catch {
    return []; // missing or unreadable
  }
}

function isAlive({ pid, startTime }: Mark): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const now = startTimeOf(pid);
  return now === undefined || now === startTime;
}
