// Where the daemon's socket is, for the daemon and for those who look for it.
import { dirname, resolve } from "node:path";

export const defaultSocketPath = "/tmp/trl.sock";

export function resolveSocketPath(given: {
  socketPath: string | undefined;
  socketDir: string | undefined;
}): string {
  if (given.socketPath) return resolve(given.socketPath);
  return given.socketDir ? resolve(given.socketDir, "trl.sock") : defaultSocketPath;
}

/** `trl.sock` -> `trl.pid`: what belongs to a socket lies beside it. */
export const beside = (socketPath: string, extension: string): string =>
  socketPath.replace(/\.sock$/, "") + extension;

/** The kernel's limit on a socket's path, less the final NUL. */
const pathMaxBytes = process.platform === "linux" ? 107 : 103;

/** Its first name, `.PID`, lies beside it and must fit, too. */
export function isPathTooLong(path: string): boolean {
  const longest = Math.max(
    Buffer.byteLength(path),
    Buffer.byteLength(dirname(path)) + `/.${process.pid}`.length,
  );
  return longest > pathMaxBytes;
}
