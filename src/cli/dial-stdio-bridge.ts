// Copies bytes between a socket and standard input and output, with backpressure in both directions.
import { requireTrustedSocket } from "../util/trusted-socket.ts";
import { CliError, unavailableExitCode } from "./errors.ts";

export interface BridgeOptions {
  greeting: string | undefined;
  hangsUp: boolean;
}

/** Undefined if no daemon listens. The socket is paused until `flow` is called. */
export async function openSocket(path: string): Promise<DaemonSocket | undefined> {
  try {
    requireTrustedSocket(path, process.env);
    const socket = await DaemonSocket.connect(path);
    try {
      requireTrustedSocket(path, process.env);
      return socket;
    } catch (error) {
      socket.close();
      throw error;
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ECONNREFUSED") return undefined;
    throw new CliError(`cannot connect to ${path}: ${message}`, unavailableExitCode);
  }
}

/** Returns the exit code: 0 if either side closed without an error. */
export async function bridge(socket: DaemonSocket, { greeting, hangsUp }: BridgeOptions): Promise<number> {
  const output = Bun.stdout.writer();
  const put = (bytes: string | Uint8Array) => {
    output.write(bytes);
    return output.flush();
  };
  try {
    if (greeting !== undefined) await put(`${greeting}\n`);
    socket.flow(put);
    const inputEnded = forwardInput(socket);
    const isHungUp = await Promise.race([
      inputEnded.then(() => hangsUp || socket.ended.then(() => false)),
      socket.ended.then(() => false),
    ]);
    if (!isHungUp) await output.end();
    return 0;
  } catch {
    return 1; // stdout is closed or the connection broke: no output can report it
  } finally {
    socket.close();
  }
}

async function forwardInput(socket: DaemonSocket): Promise<void> {
  for await (const chunk of Bun.stdin.stream()) await socket.write(chunk);
  socket.endInput();
}

export class DaemonSocket {
  readonly #ended = Promise.withResolvers<void>();
  #socket!: Bun.Socket;
  #drained = Promise.withResolvers<void>();
  #take: ((chunk: Uint8Array) => unknown) | undefined;

  private constructor() {
    this.#ended.promise.catch(() => {}); // no unhandled rejection if `ended` is not awaited
  }

  static async connect(path: string): Promise<DaemonSocket> {
    const own = new DaemonSocket();
    own.#socket = await Bun.connect({
      unix: path,
      allowHalfOpen: true,
      socket: {
        open: (socket) => socket.pause(),
        data: (_, chunk) => own.#received(chunk),
        drain: () => own.#drained.resolve(),
        end: () => own.#ended.resolve(),
        close: () => own.#ended.resolve(),
        error: (_, error) => own.#ended.reject(error),
      },
    });
    return own;
  }

  /** Resolves at the daemon's EOF; rejects if the connection broke or its output could not be written. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Pauses reading while a promise returned by `take` is pending. */
  flow(take: (chunk: Uint8Array) => unknown): void {
    this.#take = take;
    this.#socket.resume();
  }

  /** Resolves when the kernel has accepted all bytes. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let rest = bytes; ; ) {
      this.#drained = Promise.withResolvers();
      const written = this.#socket.write(rest);
      if (written < 0) return; // closed; `ended` resolves or rejects
      rest = rest.subarray(written);
      if (rest.length === 0) return;
      await Promise.race([this.#drained.promise, this.ended]);
    }
  }

  endInput(): void {
    this.#socket.shutdown();
  }

  close(): void {
    this.#socket.terminate();
  }

  #received(chunk: Uint8Array): void {
    const taken = this.#take?.(chunk);
    if (!(taken instanceof Promise)) return;
    this.#socket.pause();
    taken.then(
      () => this.#socket.resume(),
      (error) => this.#ended.reject(error),
    );
  }
}
