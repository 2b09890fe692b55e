// /tmp is everybody's: where no daemon of ours listens, somebody else may, and would be told commands and their secrets.
import { lstatSync, statSync } from "node:fs";
import { dirname } from "node:path";

const writableByOthers = 0o022;

/**
 * Why nothing is to be said to who listens there; undefined where it is ours, root's, or in a place that only its owner
 * can have put it in. To be asked once the connection is there: before, somebody could still take the name.
 */
export function whyForeign(socketPath: string): string | undefined {
  try {
    const { uid } = lstatSync(socketPath);
    if (uid === process.getuid?.() || uid === 0) return undefined;
    const directory = dirname(socketPath);
    if ((statSync(directory).mode & writableByOthers) === 0) return undefined;
    return `${socketPath} belongs to another user (${uid}), and ${directory} is open to anybody`;
  } catch {
    return undefined; // it has gone, and whoever listened with it
  }
}
