// A daemon's Unix socket, by node:net, which Node.js and Bun both have.
import { createConnection } from "node:net";
import { whyForeign } from "../../util/foreign-socket.ts";
import { type Carrier, NoDaemonError, type OpenCarrier } from "./carrier.ts";
import { lineReader } from "./lines.ts";

export function unixCarrier(path: string): OpenCarrier {
  return ({ message, closed }) =>
    new Promise<Carrier>((resolve, reject) => {
      const socket = createConnection(path);
      let failure: Error | undefined;
      let isOpen = false;
      socket.on("connect", () => {
        const stranger = whyForeign(path);
        if (stranger !== undefined) return void socket.destroy(new Error(stranger));
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
}

function connectFailure(path: string, error: NodeJS.ErrnoException | undefined): Error {
  const isNobody = error?.code === "ENOENT" || error?.code === "ECONNREFUSED";
  if (isNobody) return new NoDaemonError(`no daemon is listening on ${path}`, { cause: error });
  return new Error(`cannot connect to ${path}: ${error?.message}`, { cause: error });
}
