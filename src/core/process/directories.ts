// Checks of directories, from clients and of sessions. A name need not be UTF-8, so paths of a session are bytes.
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

/** Distinguishes a directory from a later one of the same name; undefined if there is none. */
export function identityOf(path: Uint8Array): string | undefined {
  try {
    const { dev, ino } = statSync(Buffer.from(path));
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/** Resolves the path of a client: absolute, `~`, or relative to `base` if there is one. */
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

/** The same, and the daemon must have permission to enter it; its commands have the same permissions. */
export function requireOpenDirectory(given: string, base: string | undefined): string {
  const path = requireDirectory(given, base);
  try {
    accessSync(path, constants.X_OK);
  } catch {
    throw new TrlError("INVALID_PARAMS", `working_dir: no permission to enter ${path}`);
  }
  return path;
}
