// A tight client over a raw socket, one request at a time: for what needs an answer to go on (ids), and to set things
// up. It parses nothing that is not asked for.
const newline = 10;

export type Data = Record<string, unknown> & { session_id: string };

export class Wire implements Disposable {
  readonly #socket: Bun.Socket;
  #chunks: Buffer[] = [];
  #answered = (_line: Buffer) => {};
  /** Called with each chunk while no request is under way. */
  onChunk: ((chunk: Buffer) => void) | undefined;

  private constructor(socket: Bun.Socket) {
    this.#socket = socket;
  }

  static async connect(socketPath: string): Promise<Wire> {
    let take = (_chunk: Buffer) => {};
    const socket = await Bun.connect({
      unix: socketPath,
      socket: { data: (_, chunk) => take(chunk) },
    });
    const wire = new Wire(socket);
    take = (chunk) => wire.#take(chunk);
    return wire;
  }

  /** The line that comes back, as it is. */
  ask(line: string): Promise<Buffer> {
    return new Promise((resolve) => {
      this.#answered = resolve;
      this.#socket.write(line);
    });
  }

  say(line: string): void {
    this.#socket.write(line);
  }

  async call(method: string, params: object = {}): Promise<Data> {
    const reply = JSON.parse((await this.ask(request(method, params))).toString());
    if (!reply.ok) throw new Error(`${method}: ${JSON.stringify(reply.error)}`);
    return reply.data;
  }

  #take(chunk: Buffer): void {
    if (this.onChunk) this.onChunk(chunk);
    else if (chunk.at(-1) !== newline) this.#chunks.push(Buffer.from(chunk));
    else {
      const line = this.#chunks.length === 0 ? chunk : Buffer.concat([...this.#chunks, chunk]);
      this.#chunks = [];
      this.#answered(line);
    }
  }

  [Symbol.dispose](): void {
    this.#socket.end();
  }
}

export const request = (method: string, params: object = {}): string =>
  `${JSON.stringify({ id: "1", method, params })}\n`;
