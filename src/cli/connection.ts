// Finds the daemon's socket from flags and environment, and connects to it.
import { resolve } from "node:path";
import type { ArgsDef } from "citty";
import { NoDaemonError } from "../client/carriers/carrier.ts";
import { resolveSocketPath } from "../util/socket-path.ts";
import { DaemonClient } from "./client.ts";
import { CliError, unavailableExitCode } from "./errors.ts";

export const socketArgs = {
  "socket-path": {
    type: "string",
    alias: "socket",
    valueHint: "PATH",
    description: "The daemon's socket ($TRL_SOCKET_PATH, else /tmp/trl.sock)",
  },
  "socket-dir": {
    type: "string",
    valueHint: "DIR",
    description: "The same as --socket-path DIR/trl.sock ($TRL_SOCKET_DIR)",
  },
} as const satisfies ArgsDef;

export interface SocketFlags {
  "socket-path"?: string | undefined;
  "socket-dir"?: string | undefined;
}

export const socketPathFrom = (given: SocketFlags): string => resolveSocketPath(socketChoiceFrom(given));

/** Flags for a new daemon. With --socket-dir it creates the directory. */
export function serveFlagsFrom(given: SocketFlags): string[] {
  const { socketPath, socketDir } = socketChoiceFrom(given);
  const isByDir = !socketPath && socketDir;
  return isByDir ? ["--socket-dir", resolve(socketDir)] : ["--socket-path", socketPathFrom(given)];
}

/** Same precedence as in the daemon: flags over environment, path over directory. */
function socketChoiceFrom({ "socket-path": path, "socket-dir": dir }: SocketFlags) {
  const { TRL_SOCKET_PATH, TRL_SOCKET_DIR } = process.env;
  if (path || dir) return { socketPath: path, socketDir: dir };
  return { socketPath: TRL_SOCKET_PATH, socketDir: TRL_SOCKET_DIR };
}

/** Undefined if no daemon listens on `path`. */
export async function tryConnect(path: string): Promise<DaemonClient | undefined> {
  try {
    return await DaemonClient.connect(path);
  } catch (error) {
    if (error instanceof NoDaemonError) return undefined;
    throw new CliError((error as Error).message, unavailableExitCode);
  }
}

export async function connect(path: string): Promise<DaemonClient> {
  const client = await tryConnect(path);
  if (client) return client;
  throw new CliError(`no daemon is listening on ${path}`, unavailableExitCode, "start one with: trl serve");
}
