// The Unix socket transport.
import { renameSync, rmSync, statSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { descriptorsLeft } from "../core/resources.ts";
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
    // Between its making and the first listening anybody who saw it would be refused: it gets its name afterwards.
    const unborn = join(dirname(path), `.${process.pid}`);
    rmSync(unborn, { force: true }); // of one who was killed in that moment
    const listener = Bun.listen<{ connection: Connection } | undefined>({
      unix: unborn,
      allowHalfOpen: true,
      socket: {
        open(socket) {
          if (counters.connections >= maxConnections || descriptorsLeft() < 0) return void socket.terminate();
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
    renameSync(unborn, path);
    const { ino } = statSync(path);
    const stop = (closesConnections: boolean) => {
      listener.stop(closesConnections);
      // By that name there may be another's by now.
      if (statSync(path, { throwIfNoEntry: false })?.ino === ino) unlinkSync(path);
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
