// The path of the daemon's socket, for the daemon and its clients.
import { dirname, resolve } from "node:path";

export const defaultSocketPath = "/tmp/trl.sock";

export function resolveSocketPath(given: {
  socketPath: string | undefined;
  socketDir: string | undefined;
}): string {
  if (given.socketPath) return resolve(given.socketPath);
  return given.socketDir ? resolve(given.socketDir, "trl.sock") : defaultSocketPath;
}

/** The path of a file that belongs to a socket: `trl.sock` -> `trl.pid`. */
export const beside = (socketPath: string, extension: string): string =>
  socketPath.replace(/\.sock$/, "") + extension;

/** The kernel's limit on a socket's path, without the final NUL. */
const pathMaxBytes = process.platform === "linux" ? 107 : 103;

/** The socket is created as `.PID` in the same directory, and that path must fit, too. */
export function isPathTooLong(path: string): boolean {
  const longest = Math.max(
    Buffer.byteLength(path),
    Buffer.byteLength(dirname(path)) + `/.${process.pid}`.length,
  );
  return longest > pathMaxBytes;
}
