// How the verbs find the daemon.
import type { ArgsDef } from "citty";
import { TrlClient } from "../client/client.ts";
import { resolveSocketPath } from "../util/socket-path.ts";
import { CliError, unavailableExitCode } from "./errors.ts";

export const socketArgs = {
  "socket-path": {
    type: "string",
    alias: "socket",
    valueHint: "PATH",
    description: "The daemon's socket ($TRL_SOCKET_PATH, else /tmp/trl.sock)",
  },
} as const satisfies ArgsDef;

export function socketPathFrom(given: string | undefined): string {
  const { TRL_SOCKET_PATH, TRL_SOCKET_DIR } = process.env;
  return resolveSocketPath({ socketPath: given || TRL_SOCKET_PATH, socketDir: TRL_SOCKET_DIR });
}

/** Undefined where no daemon listens there. */
export async function tryConnect(path: string): Promise<TrlClient | undefined> {
  try {
    return await TrlClient.connect(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ECONNREFUSED") return undefined;
    throw new CliError(`cannot connect to ${path}: ${message}`, unavailableExitCode);
  }
}

export async function connect(path: string): Promise<TrlClient> {
  const client = await tryConnect(path);
  if (client) return client;
  throw new CliError(`no daemon is listening on ${path}`, unavailableExitCode, "start one with: trl serve");
}
