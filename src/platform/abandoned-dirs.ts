// Private directories that are named after the process that made them: `trl-PID-xxxxxx`. Those of processes that are
// gone are removed by the next daemon. A name proves nothing: only what holds the mark of its maker is ever removed.
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { forOwnerAlone } from "../util/private-files.ts";
import { ownWorld } from "./pid-namespace.ts";
import { startTimeOf } from "./start-time.ts";

export interface AbandonedDir {
  path: string;
  /** Of the process that made it. */
  pid: number;
}

/** Who has made a directory: a pid alone may be another's by now, or count in another container. */
interface Mark {
  pid: number;
  startTime: string;
  world: string;
}

const dirName = /^trl-(\d+)-\w{6}$/;
/** Whether a path has the name of a private directory; the directory itself may belong to any user. */
export const hasOwnDirName = (path: string): boolean => dirName.test(basename(path));

const markName = ".trl";
const markBytesMax = 1024;

/** Readable by its owner alone. */
export function makeOwnDir(base: string): string {
  return forOwnerAlone(() => {
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

/** Ours, of processes of this world that are not there any more. */
export function abandonedDirs(base: string): AbandonedDir[] {
  const world = ownWorld();
  return namesIn(base).flatMap((name) => {
    const path = join(base, name);
    const mark = markOf(path);
    return mark && mark.world === world && !isAlive(mark) ? [{ path, pid: mark.pid }] : [];
  });
}

export function removeAbandonedDirs(base: string): void {
  for (const { path } of abandonedDirs(base)) rmSync(path, { recursive: true, force: true });
}

/** Whoever made it; what is no such directory stays. */
export function removeOwnDir(path: string): void {
  if (markOf(path)) rmSync(path, { recursive: true, force: true });
}

let known: { [Name in keyof Mark]: Mark[Name] | undefined } | undefined;

/** Not whole where the system does not tell: then nobody can know later whether we live, and the directory stays. */
function ownMark(): NonNullable<typeof known> {
  known ??= { pid: process.pid, startTime: startTimeOf(process.pid), world: ownWorld() };
  return known;
}

/** Undefined where it is not a directory of ours alone that holds a whole mark, of the process it is named after. */
function markOf(path: string): Mark | undefined {
  const pid = dirName.exec(basename(path))?.[1];
  if (pid === undefined) return undefined;
  try {
    const stat = lstatSync(path);
    if (!stat.isDirectory() || !isOurs(stat) || (stat.mode & 0o777) !== 0o700) return undefined;
    const file = lstatSync(join(path, markName));
    if (!file.isFile() || !isOurs(file) || file.size > markBytesMax) return undefined;
    const mark: unknown = JSON.parse(readFileSync(join(path, markName), "utf8"));
    return isMark(mark) && String(mark.pid) === pid ? mark : undefined;
  } catch {
    return undefined; // gone meanwhile, without a mark, or with half of one
  }
}

function isMark(value: unknown): value is Mark {
  const { pid, startTime, world } = (value ?? {}) as Record<string, unknown>;
  return Number.isSafeInteger(pid) && typeof startTime === "string" && typeof world === "string";
}

const isOurs = ({ uid }: { uid: number }) => uid === process.getuid?.();

function namesIn(base: string): string[] {
  try {
    return readdirSync(base);
  } catch {
    return []; // not there, or not to be looked into
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
