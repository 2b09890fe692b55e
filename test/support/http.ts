// A daemon with its HTTP door open, and clients that are as rude as a test needs them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { MethodName, Params, Result } from "../../src/protocol/methods.ts";
import { type DaemonSetup, startDaemon, type TestDaemon } from "./daemon.ts";
import { hangMs, until } from "./wait.ts";
import type { Frame } from "./wire.ts";

export interface HttpDaemon extends TestDaemon {
  url: string;
  port: number;
  token: string;
  bearer: { authorization: string };
  /** With the token. */
  post(body: unknown, more?: { path?: string; headers?: Record<string, string> }): Promise<Response>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>>;
}

export async function startHttp({ flags = [], ...setup }: DaemonSetup = {}): Promise<HttpDaemon> {
  const where = flags.includes("--http") ? [] : ["--http", "127.0.0.1:0"];
  const daemon = await startDaemon({ ...setup, flags: [...where, ...flags] });
  const url = /https?:\/\/[^\s"]+/.exec(daemon.log())![0];
  const token = setup.env?.["TRL_AUTH_TOKEN"] ?? readFileSync(join(daemon.dir, "trl.token"), "utf8").trim();
  const bearer = { authorization: `Bearer ${token}` };
  const post: HttpDaemon["post"] = (body, { path = "/", headers = {} } = {}) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { ...bearer, ...headers },
      body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
    });
  return Object.assign(daemon, {
    url,
    port: Number(new URL(url).port),
    token,
    bearer,
    post,
    get: (path: string, headers = {}) => fetch(`${url}${path}`, { headers: { ...bearer, ...headers } }),
    async call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
      const reply = (await (await post({ id: 1, method, params })).json()) as Frame;
      if (!reply["ok"]) throw new Error(`${method}: ${JSON.stringify(reply["error"])}`);
      return reply["data"];
    },
  });
}

/** A TCP connection that says what it is told, byte for byte. */
export class RawClient implements Disposable {
  received = "";
  isClosed = false;
  #socket!: Bun.Socket;
  #pending: Uint8Array[] = [];

  static async connect(port: number): Promise<RawClient> {
    const client = new RawClient();
    client.#socket = await Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: {
        data(_, chunk) {
          client.received += chunk.toString("latin1");
        },
        drain: () => client.#flush(),
        end: () => client.#closed(),
        close: () => client.#closed(),
        error() {},
      },
    });
    return client;
  }

  send(bytes: string | Uint8Array): void {
    this.#pending.push(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
    this.#flush();
  }

  get unsent(): number {
    return this.#pending.reduce((sum, { length }) => sum + length, 0);
  }

  pause(): void {
    this.#socket.pause();
  }

  async status(timeoutMs = hangMs): Promise<number> {
    const line = await until(
      "a status line",
      () => /^HTTP\/1\.1 (\d+)/.exec(this.received) ?? (this.isClosed ? ["", "0"] : undefined),
      timeoutMs,
    );
    return Number(line[1]);
  }

  async untilClosed(timeoutMs = hangMs): Promise<string> {
    await until("the end of the connection", () => this.isClosed, timeoutMs);
    return this.received;
  }

  [Symbol.dispose](): void {
    this.#socket.terminate();
  }

  #flush(): void {
    for (let head = this.#pending[0]; head; head = this.#pending[0]) {
      const written = Math.max(0, this.#socket.write(head));
      if (written < head.length) {
        this.#pending[0] = head.subarray(written);
        return;
      }
      this.#pending.shift();
    }
  }

  #closed(): void {
    this.isClosed = true;
  }
}

/** The status of a request that is sent exactly so, and what came. */
export async function rawRequest(
  port: number,
  lines: string[],
  body = "",
): Promise<{ status: number; text: string }> {
  using client = await RawClient.connect(port);
  client.send(`${lines.join("\r\n")}\r\n\r\n${body}`);
  const status = await client.status();
  await until("the whole answer", () => client.isClosed || isWhole(client.received));
  return { status, text: client.received };
}

function isWhole(text: string): boolean {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const length = /content-length: (\d+)/i.exec(head)?.[1];
  return length !== undefined && rest.join("\r\n\r\n").length >= Number(length);
}

export interface ServerEvent {
  id: string | undefined;
  event: string;
  data: Frame;
}

/** The events of a response as they come. */
export async function* eventsOf(response: Response): AsyncGenerator<ServerEvent> {
  for await (const block of splitBy(response, "\n\n")) {
    const fields = new Map(
      block.split("\n").map((line) => /^(\w+): (.*)$/s.exec(line)!.slice(1) as [string, string]),
    );
    yield { id: fields.get("id"), event: fields.get("event")!, data: JSON.parse(fields.get("data")!) };
  }
}

/** The frames of an NDJSON response as they come. */
export async function* framesOf(response: Response): AsyncGenerator<Frame> {
  for await (const line of splitBy(response, "\n")) yield JSON.parse(line) as Frame;
}

async function* splitBy(response: Response, separator: string): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body!) {
    const pieces = (rest + decoder.decode(chunk, { stream: true })).split(separator);
    rest = pieces.pop()!;
    yield* pieces;
  }
  if (rest !== "") throw new Error(`the response broke off: ${rest.slice(0, 200)}`);
}

/** A WebSocket that keeps what it hears. */
export class SocketClient implements Disposable {
  readonly frames: Frame[] = [];
  closeCode: number | undefined;
  keepsFrames = true;
  onFrame: ((frame: Frame) => void) | undefined;
  #socket!: WebSocket;
  #nextId = 1;

  /** Throws where the daemon does not take it. */
  static async connect(
    { port, token }: { port: number; token: string },
    { path = "/ws", headers = { authorization: `Bearer ${token}` } as Record<string, string> } = {},
  ): Promise<SocketClient> {
    const client = new SocketClient();
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers } as never);
    client.#socket = socket;
    socket.onmessage = ({ data }) => client.#received(JSON.parse(String(data)) as Frame);
    socket.onclose = ({ code }) => {
      client.closeCode = code;
    };
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve();
      socket.onerror = () => reject(new Error("refused"));
    });
    return client;
  }

  send(message: string | Uint8Array): void {
    this.#socket.send(message as string);
  }

  sendFrame(frame: unknown): void {
    this.send(JSON.stringify(frame));
  }

  frame(matches: (frame: Frame) => boolean, timeoutMs = hangMs): Promise<Frame> {
    return until(
      "a frame",
      () => {
        const found = this.frames.find(matches);
        if (!found && this.closeCode !== undefined) throw new Error(`closed with ${this.closeCode}`);
        return found;
      },
      timeoutMs,
    );
  }

  async request(method: string, params?: unknown): Promise<Frame> {
    const id = `s${this.#nextId++}`;
    this.sendFrame({ id, method, params });
    return await this.frame((frame) => frame["id"] === id);
  }

  close(): void {
    this.#socket.close();
  }

  [Symbol.dispose](): void {
    this.#socket.terminate();
  }

  #received(frame: Frame): void {
    this.onFrame?.(frame);
    if (this.keepsFrames || "id" in frame) this.frames.push(frame);
  }
}

/** The resident memory of a process, in bytes. */
