// A typed connection to a daemon over its Unix socket, derived from the method table.
import type { Reply } from "../protocol/envelope.ts";
import { TrlError } from "../protocol/errors.ts";
import { encodeFrame, LineDecoder } from "../protocol/frame.ts";
import type { MethodName, Params, Result } from "../protocol/methods.ts";

/** Replies may hold two streams of output, each escaped; the daemon bounds them. */
const replyMaxBytes = 2 ** 31;

interface Waiting {
  resolve(data: unknown): void;
  reject(error: Error): void;
}

export class TrlClient implements Disposable {
  readonly #waiting = new Map<string, Waiting>();
  readonly #decoder = new LineDecoder(replyMaxBytes);
  #socket!: Bun.Socket;
  #unsent: Uint8Array[] = [];
  #nextId = 1;

  private constructor() {}

  /** Rejects with the system's error where nobody listens. */
  static async connect(socketPath: string): Promise<TrlClient> {
    const client = new TrlClient();
    client.#socket = await Bun.connect({
      unix: socketPath,
      socket: {
        data: (_, chunk) => client.#receive(chunk),
        drain: () => client.#flush(),
        close: () => client.#fail(new Error("the daemon closed the connection")),
        error: (_, error) => client.#fail(error),
      },
    });
    return client;
  }

  /** Rejects with a TrlError where the daemon answers with an error. */
  call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    const id = String(this.#nextId++);
    const reply = new Promise<unknown>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#unsent.push(encodeFrame({ id, method, params }));
    this.#flush();
    return reply as Promise<Result<M>>;
  }

  [Symbol.dispose](): void {
    this.#socket.end();
  }

  #flush(): void {
    for (let frame = this.#unsent[0]; frame !== undefined; frame = this.#unsent[0]) {
      const written = Math.max(0, this.#socket.write(frame));
      if (written < frame.length) {
        this.#unsent[0] = frame.subarray(written);
        return;
      }
      this.#unsent.shift();
    }
  }

  #receive(chunk: Uint8Array): void {
    for (const line of this.#decoder.push(chunk)) {
      if (line.kind === "too-long") continue;
      const reply = JSON.parse(new TextDecoder().decode(line.bytes)) as Reply;
      const waiting = this.#waiting.get(String(reply.id));
      this.#waiting.delete(String(reply.id));
      if (reply.ok) waiting?.resolve(reply.data);
      else waiting?.reject(new TrlError(reply.error.code, reply.error.message, reply.error.data));
    }
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
