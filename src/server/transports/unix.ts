// The Unix socket transport.
import { renameSync, rmSync, statSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { descriptorsLeft } from "../../core/resources.ts";
import type { ListeningSocket } from "../../platform/listening.ts";
import { listening } from "../../platform/listening.ts";
import type { Connection } from "../connection.ts";
import type { Server } from "../server.ts";
import { untilDrained } from "./drain.ts";
import type { Listener } from "./listener.ts";
import type { TransportStream } from "./transport-stream.ts";

export interface UnixListenerOptions {
  path: string;
  server: Server;
  /** Leaves descriptors for the commands and terminals of the connections. */
  maxConnections: number;
  /** The listening descriptor that an upgrade has passed on. */
  fd: number | undefined;
}

type Data = { connection: Connection } | undefined;
type Socket = Bun.Socket<Data>;

export class UnixListener implements Listener {
  readonly listening: ListeningSocket | undefined;
  readonly #options: UnixListenerOptions;
  readonly #sockets = new Set<Socket>();
  readonly #listener: Bun.SocketListener<Data>;
  /** Identifies the socket file: another daemon may have replaced it by the time this one stops. */
  readonly #inode: number;

  constructor(options: UnixListenerOptions) {
    this.#options = options;
    const { made, socket } = listening(() => this.#listen(), options.fd);
    this.#listener = made;
    this.listening = socket;
    this.#inode = statSync(options.path).ino;
  }

  get isSending(): boolean {
    return this.#connections.some(({ isSending }) => isSending);
  }

  stopAccepting(): void {
    this.#stop(false);
  }

  stopStreaming(): void {
    for (const connection of this.#connections) connection.stopStreaming();
  }

  closeConnections(): void {
    for (const socket of this.#sockets) socket.terminate();
  }

  async drainAndClose(): Promise<void> {
    await untilDrained(
      () => this.#connections.some(({ isBusy }) => isBusy),
      () => this.#options.server.counters.bytesOut,
    );
    for (const socket of this.#sockets) socket.end();
    this.#stop(true);
  }

  get #connections(): Connection[] {
    return [...this.#sockets].flatMap(({ data }) => data?.connection ?? []);
  }

  #stop(closesConnections: boolean): void {
    this.#listener.stop(closesConnections);
    const { path } = this.#options;
    if (statSync(path, { throwIfNoEntry: false })?.ino === this.#inode) unlinkSync(path);
  }

  #listen(): Bun.SocketListener<Data> {
    const { path, fd } = this.#options;
    const common = { allowHalfOpen: true, socket: this.#socketHandler() };
    if (fd !== undefined) return Bun.listen<Data>({ fd, ...common } as never);
    const umask = process.umask(0o177); // no other user can connect, from the creation of the file on
    try {
      // The kernel refuses clients between bind and listen, so the socket gets its final name after both.
      const temporary = join(dirname(path), `.${process.pid}`);
      rmSync(temporary, { force: true }); // left by a process that was killed before the rename
      const listener = Bun.listen<Data>({ unix: temporary, ...common });
      renameSync(temporary, path);
      return listener;
    } finally {
      process.umask(umask);
    }
  }

  #socketHandler(): Bun.SocketHandler<Data> {
    return {
      open: (socket) => this.#open(socket),
      data: (socket, chunk) => socket.data?.connection.receive(chunk),
      end: (socket) => socket.data?.connection.endOfInput(),
      drain: (socket) => socket.data?.connection.writable(),
      close: (socket) => {
        if (this.#sockets.delete(socket)) this.#options.server.disconnect(socket.data!.connection);
      },
      error() {}, // followed by `close`
    };
  }

  #open(socket: Socket): void {
    const { server, maxConnections } = this.#options;
    if (server.counters.connections >= maxConnections || descriptorsLeft() < 0)
      return void socket.terminate();
    this.#sockets.add(socket);
    socket.data = { connection: server.connect(streamOf(socket)) };
  }
}

const streamOf = (socket: Socket): TransportStream => ({
  write: (bytes) => socket.write(bytes),
  senderWaits: true,
  pauseReading: () => void socket.pause(),
  resumeReading: () => void socket.resume(),
  close: () => void socket.end(),
});
