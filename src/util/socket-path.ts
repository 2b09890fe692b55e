// Where the daemon's socket is, for the daemon and for those who look for it.
import { resolve } from "node:path";

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
