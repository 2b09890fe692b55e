// A carrier over the daemon's Unix socket, by node:net, which Node.js and Bun both have.
import { createConnection } from "node:net";
import { requireTrustedSocket } from "../../util/trusted-socket.ts";
import { type Carrier, NoDaemonError, type OpenCarrier } from "./carrier.ts";
import { lineReader } from "./lines.ts";

/** `env` may name further directories that are trusted. */
export function unixCarrier(path: string, env: Record<string, string | undefined>): OpenCarrier {
  return async ({ message, closed }) => {
    try {
      requireTrustedSocket(path, env);
    } catch (error) {
      throw connectFailure(path, error as Error);
    }
    return await new Promise<Carrier>((resolve, reject) => {
      const socket = createConnection(path);
      let failure: Error | undefined;
      let isOpen = false;
      socket.on("connect", () => {
        try {
          requireTrustedSocket(path, env);
        } catch (error) {
          return void socket.destroy(error as Error);
        }
        isOpen = true;
        resolve({
          send: (frame) => void socket.write(`${frame}\n`),
          close: () => void socket.destroy(),
        });
      });
      socket.on("data", lineReader(message));
      socket.on("error", (error) => {
        failure = error;
      });
      socket.on("close", () => {
        if (isOpen) closed(failure ?? new Error("the daemon closed the connection"));
        else reject(connectFailure(path, failure));
      });
    });
  };
}

function connectFailure(path: string, error: NodeJS.ErrnoException | undefined): Error {
  const isRefused = error?.code === "ENOENT" || error?.code === "ECONNREFUSED";
  if (isRefused) return new NoDaemonError(`no daemon is listening on ${path}`, { cause: error });
  return new Error(`cannot connect to ${path}: ${error?.message}`, { cause: error });
}
