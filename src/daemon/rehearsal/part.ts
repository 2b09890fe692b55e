// What is rehearsed on one stage, by its one client: a session and a terminal, made and used as anybody would.
import type { Stage } from "./stage.ts";

/** The terminal's line holds some more. */
const keysPerLine = 500;
const newline = 0x0a;

export class Part {
  #key: Buffer;
  #command: Buffer;
  #keys = 0;

  private constructor(
    readonly stage: Stage,
    readonly client: Asking,
    ids: { session: string; terminal: string },
  ) {
    this.#key = lineOf("pty.write", { session_id: ids.terminal, data: "x" });
    this.#command = lineOf("exec.run", { session_id: ids.session, command: "echo hello" });
  }

  /** Step by step: each of these is done for the first time, and takes a millisecond or more. */
  static async on(stage: Stage, quiet: () => Promise<void>): Promise<Part> {
    const client = await Asking.at(stage.path);
    await quiet();
    const session = await client.call("session.create", { shell: "bash", working_dir: "/" });
    await quiet();
    const { session_id } = await client.call("pty.create", { command: "cat", args: [] });
    await quiet();
    await client.call("pty.subscribe", { session_id, replay: "none" });
    return new Part(stage, client, { session: session["session_id"]!, terminal: session_id! });
  }

  /** A key, until its echo and the reply are there. */
  async type(): Promise<void> {
    if (++this.#keys % keysPerLine === 0) this.stage.terminal.forgetKeys();
    await this.client.ask(this.#key, 2);
  }

  async run(): Promise<void> {
    await this.client.ask(this.#command, 1);
  }
}

class Asking {
  #awaited = 0;
  #heard: Buffer[] = [];
  #onHeard: (lines: Buffer) => void = () => {};
  readonly #socket: Bun.Socket<Asking>;

  private constructor(socket: Bun.Socket<Asking>) {
    this.#socket = socket;
    socket.data = this;
  }

  static async at(path: string): Promise<Asking> {
    const data = (socket: Bun.Socket<Asking>, chunk: Buffer) => socket.data.#hear(chunk);
    return new Asking(await Bun.connect<Asking>({ unix: path, socket: { data, error() {} } } as never));
  }

  /** Resolves with so many lines; never, where they do not come. */
  ask(line: Buffer, lines: number): Promise<Buffer> {
    const { promise, resolve } = Promise.withResolvers<Buffer>();
    this.#awaited = lines;
    this.#heard = [];
    this.#onHeard = resolve;
    this.#socket.write(line);
    return promise;
  }

  async call(method: string, params: object): Promise<Record<string, string>> {
    const { ok, data, error } = JSON.parse((await this.ask(lineOf(method, params), 1)).toString());
    if (!ok) throw new Error(error.message);
    return data;
  }

  #hear(chunk: Buffer): void {
    this.#heard.push(Buffer.from(chunk));
    for (const byte of chunk) if (byte === newline) this.#awaited--;
    if (this.#awaited <= 0) this.#onHeard(Buffer.concat(this.#heard));
  }
}

const lineOf = (method: string, params: object): Buffer =>
  Buffer.from(`${JSON.stringify({ id: "rehearsal", method, params })}\n`);
