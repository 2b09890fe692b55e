// Directories as clients give them.
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { TrlError } from "../../protocol/errors.ts";

export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** What tells a directory from a later one of the same name; undefined where there is none. */
export function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path);
    return `${path}:${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/** A directory as a client gave it: absolute, `~`, or relative to `base` where there is one. */
export function requireDirectory(given: string, base: string | undefined): string {
  const expanded = given === "~" || given.startsWith("~/") ? homedir() + given.slice(1) : given;
  if (!expanded.startsWith("/") && base === undefined) {
    throw new TrlError("INVALID_PARAMS", `working_dir: expected an absolute path, got "${given}"`);
  }
  const path = resolve(base ?? "/", expanded);
  if (!isDirectory(path)) throw new TrlError("INVALID_PARAMS", `working_dir: no such directory: ${path}`);
  return path;
}
