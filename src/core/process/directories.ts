// Directories: as clients give them, and as the system knows them. A name need not be UTF-8, so that paths of
// the session itself are bytes.
import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { TrlError } from "../../protocol/errors.ts";

export function isDirectory(path: Uint8Array): boolean {
  try {
    return statSync(Buffer.from(path)).isDirectory();
  } catch {
    return false;
  }
}

/** What tells a directory from another, and from a later one of the same name; undefined where there is none. */
export function identityOf(path: Uint8Array): string | undefined {
  try {
    const { dev, ino } = statSync(Buffer.from(path));
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/** A directory as a client gave it: absolute, `~`, or relative to `base` where there is one. */
export function requireDirectory(
  given: string,
  base: string | undefined,
  exists: (path: Uint8Array) => boolean = isDirectory,
): string {
  const expanded = given === "~" || given.startsWith("~/") ? homedir() + given.slice(1) : given;
  if (!expanded.startsWith("/") && base === undefined) {
    throw new TrlError("INVALID_PARAMS", `working_dir: expected an absolute path, got "${given}"`);
  }
  const path = resolve(base ?? "/", expanded);
  if (!exists(Buffer.from(path))) {
    throw new TrlError("INVALID_PARAMS", `working_dir: no such directory: ${path}`);
  }
  return path;
}

/** As the daemon sees it, who may go there may go there inside, too. */
export function requireOpenDirectory(given: string, base: string | undefined): string {
  const path = requireDirectory(given, base);
  try {
    accessSync(path, constants.X_OK);
  } catch {
    throw new TrlError("INVALID_PARAMS", `working_dir: no permission to enter ${path}`);
  }
  return path;
}
