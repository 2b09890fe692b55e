// Bytes between a socket and our standard input and output. Neither side is read faster than the other one takes it.
import { requireTrustedSocket } from "../../util/trusted-socket.ts";
import { CliError, unavailableExitCode } from "../errors.ts";

export interface BridgeOptions {
  greeting: string | undefined;
  hangsUp: boolean;
}

/** Undefined where nobody listens. It reads nothing before `flow` is called. */
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

/** Gives the exit code: 0 where either side has ended in good order. */
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
    return 1; // nobody reads our output, or the connection broke: there is nobody to tell
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
  #room = Promise.withResolvers<void>();
  #take: ((chunk: Uint8Array) => unknown) | undefined;

  private constructor() {
    this.#ended.promise.catch(() => {}); // told to whoever asks
  }

  static async connect(path: string): Promise<DaemonSocket> {
    const own = new DaemonSocket();
    own.#socket = await Bun.connect({
      unix: path,
      allowHalfOpen: true,
      socket: {
        open: (socket) => socket.pause(),
        data: (_, chunk) => own.#received(chunk),
        drain: () => own.#room.resolve(),
        end: () => own.#ended.resolve(),
        close: () => own.#ended.resolve(),
        error: (_, error) => own.#ended.reject(error),
      },
    });
    return own;
  }

  /** The daemon has said all; rejects where the connection broke, or what it said could not be passed on. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** While a promise that `take` gave is pending, nothing is read. */
  flow(take: (chunk: Uint8Array) => unknown): void {
    this.#take = take;
    this.#socket.resume();
  }

  /** Resolves when all of it is the system's. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let rest = bytes; ; ) {
      this.#room = Promise.withResolvers();
      const written = this.#socket.write(rest);
      if (written < 0) return; // closed; `ended` tells
      rest = rest.subarray(written);
      if (rest.length === 0) return;
      await Promise.race([this.#room.promise, this.ended]);
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
