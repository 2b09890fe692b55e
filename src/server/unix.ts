// The Unix socket transport.
import { statSync } from "node:fs";
import { Connection } from "./connection.ts";
import type { ServerCounters } from "./counters.ts";
import type { Dispatcher } from "./dispatch.ts";
import type { Door } from "./door.ts";
import { farewellMs } from "./limits.ts";

export interface UnixServerOptions {
  path: string;
  dispatcher: Dispatcher;
  counters: ServerCounters;
  maxLineBytes: number;
  /** Descriptors must be left for what the connections are there for. */
  maxConnections: number;
}

type Socket = Bun.Socket<{ connection: Connection } | undefined>;

export function serveUnix(options: UnixServerOptions): Door {
  const { path, dispatcher, counters, maxLineBytes, maxConnections } = options;
  const sockets = new Set<Socket>();
  // From its first moment the socket is its owner's alone.
  const umask = process.umask(0o177);
  try {
    const listener = Bun.listen<{ connection: Connection } | undefined>({
      unix: path,
      allowHalfOpen: true,
      socket: {
        open(socket) {
          if (counters.connections >= maxConnections) return void socket.terminate();
          counters.connections++;
          counters.connectionsTotal++;
          sockets.add(socket);
          socket.data = { connection: new Connection(wireOf(socket), dispatcher, counters, maxLineBytes) };
        },
        data: (socket, chunk) => socket.data?.connection.receive(chunk),
        end: (socket) => socket.data?.connection.endOfInput(),
        drain: (socket) => socket.data?.connection.writable(),
        close(socket) {
          if (!sockets.delete(socket)) return;
          counters.connections--;
          socket.data?.connection.closed();
        },
        error() {}, // followed by `close`
      },
    });
    const { ino } = statSync(path);
    // Bun removes the file by its name; if that is another's by now, the end of the process must do.
    const isOurs = () => statSync(path, { throwIfNoEntry: false })?.ino === ino;
    const stop = (closesConnections: boolean) => {
      if (isOurs()) listener.stop(closesConnections);
    };
    return {
      stopAccepting: () => stop(false),
      farewell: async () => {
        const deadline = performance.now() + farewellMs;
        const isBusy = (socket: Socket) => socket.data?.connection.isBusy === true;
        while ([...sockets].some(isBusy) && performance.now() < deadline) await Bun.sleep(1);
        for (const socket of sockets) socket.end();
        stop(true);
      },
    };
  } finally {
    process.umask(umask);
  }
}

const wireOf = (socket: Socket) => ({
  write: (bytes: Uint8Array) => socket.write(bytes),
  pauseReading: () => void socket.pause(),
  resumeReading: () => void socket.resume(),
  close: () => void socket.end(),
});
