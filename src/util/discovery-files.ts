// Discovery files, by which clients find the daemons of this user. Other users can create such files in /tmp, and a sandboxed command
// can create a FIFO there: only regular files of this user count, in a directory of this user, and no read blocks.
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isOwnDir } from "./runtime-dir.ts";

const fileBytesMax = 256 * 1024;

/** Paths of the discovery files in `directory`; none if the directory belongs to another user. */
export function discoveryFilesIn(directory: string): string[] {
  try {
    if (!isOwnDir(directory)) return [];
    const names = readdirSync(directory).filter((name) => name.endsWith(".json"));
    return names.map((name) => join(directory, name));
  } catch {
    return [];
  }
}

/** The parsed content, not validated. Undefined if the file is not a regular file of this user, or not JSON. */
export function readDiscoveryFile(path: string): unknown {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stat = fstatSync(fd);
      if (!stat.isFile() || stat.uid !== process.getuid?.() || stat.size > fileBytesMax) return undefined;
      return JSON.parse(readFileSync(fd, "utf8"));
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}
