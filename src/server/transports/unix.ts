// The Unix socket transport.
import { renameSync, rmSync, statSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { descriptorsLeft } from "../../core/resources.ts";
import { listening } from "../../platform/listening.ts";
import { Connection } from "../connection.ts";
import type { ServerCounters } from "../counters.ts";
import type { Dispatcher } from "../dispatch.ts";
import { untilDrained } from "./drain.ts";
import type { Listener } from "./listener.ts";
import type { TransportStream } from "./transport-stream.ts";

export interface UnixServerOptions {
  path: string;
  dispatcher: Dispatcher;
  counters: ServerCounters;
  maxLineBytes: number;
  /** Descriptors must be left for what the connections are there for. */
  maxConnections: number;
  /** Where the program before us has listened there already. */
  fd: number | undefined;
}

type Data = { connection: Connection } | undefined;
type Socket = Bun.Socket<Data>;

export function serveUnix(options: UnixServerOptions): Listener {
  const { path } = options;
  const sockets = new Set<Socket>();
  const { made: listener, socket } = listening(() => listen(options, sockets), options.fd);
  const { ino } = statSync(path);
  const stop = (closesConnections: boolean) => {
    listener.stop(closesConnections);
    // By that name there may be another's by now.
    if (statSync(path, { throwIfNoEntry: false })?.ino === ino) unlinkSync(path);
  };
  const isSome = (what: "isBusy" | "isSending") =>
    [...sockets].some(({ data }) => data?.connection[what] === true);
  return {
    listening: socket,
    stopAccepting: () => stop(false),
    farewell: async () => {
      await untilDrained(
        () => isSome("isBusy"),
        () => options.counters.bytesOut,
      );
      for (const client of sockets) client.end();
      stop(true);
    },
    get isSending() {
      return isSome("isSending");
    },
    fallSilent() {
      for (const { data } of sockets) data?.connection.fallSilent();
    },
    cut() {
      for (const client of sockets) client.terminate();
    },
  };
}

function listen(options: UnixServerOptions, sockets: Set<Socket>): Bun.SocketListener<Data> {
  const { path, fd } = options;
  if (fd !== undefined)
    return Bun.listen<Data>({ fd, allowHalfOpen: true, socket: handlers(options, sockets) } as never);
  // From its first moment the socket is its owner's alone.
  const umask = process.umask(0o177);
  try {
    // Between its making and the first listening anybody who saw it would be refused: it gets its name afterwards.
    const unborn = join(dirname(path), `.${process.pid}`);
    rmSync(unborn, { force: true }); // of one who was killed in that moment
    const listener = Bun.listen<Data>({
      unix: unborn,
      allowHalfOpen: true,
      socket: handlers(options, sockets),
    });
    renameSync(unborn, path);
    return listener;
  } finally {
    process.umask(umask);
  }
}

function handlers(
  { dispatcher, counters, maxLineBytes, maxConnections }: UnixServerOptions,
  sockets: Set<Socket>,
): Bun.SocketHandler<Data> {
  return {
    open(socket) {
      if (counters.connections >= maxConnections || descriptorsLeft() < 0) return void socket.terminate();
      counters.connections++;
      counters.connectionsTotal++;
      sockets.add(socket);
      socket.data = {
        connection: new Connection(streamOf(socket), dispatcher, counters, maxLineBytes),
      };
    },
    data: (socket, chunk) => socket.data?.connection.receive(chunk),
    end: (socket) => socket.data?.connection.endOfInput(),
    drain: (socket) => socket.data?.connection.writable(),
    close: (socket) => closed(socket, sockets, counters),
    error() {}, // followed by `close`
  };
}

function closed(socket: Socket, sockets: Set<Socket>, counters: ServerCounters): void {
  if (!sockets.delete(socket)) return;
  counters.connections--;
  socket.data?.connection.closed();
}

const streamOf = (socket: Socket): TransportStream => ({
  write: (bytes) => socket.write(bytes),
  senderWaits: true,
  pauseReading: () => void socket.pause(),
  resumeReading: () => void socket.resume(),
  close: () => void socket.end(),
});
