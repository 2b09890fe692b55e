// A client that speaks the protocol by hand, over the socket, HTTP or a WebSocket. It may be killed at any moment; then
// it comes back as another connection and goes on with what it did.
import type { ErrorCode } from "../../src/protocol/errors.ts";
import type { MethodName, Params, Result } from "../../src/protocol/methods.ts";
import type { Carrier, CarrierEvents } from "../support/carriers/carrier.ts";
import { openHttp } from "../support/carriers/http.ts";
import { openUnix } from "../support/carriers/unix.ts";
import { type HttpAddress, openWebSocket } from "../support/carriers/websocket.ts";
import type { Frame } from "../support/wire.ts";
import { ChaosWire, type OpenCarrier } from "./chaos-wire.ts";
import type { World } from "./world.ts";

export type ListenerName = "unix" | "http" | "websocket";

export class WireClient {
  #wire: ChaosWire | undefined;
  #opening: Promise<ChaosWire | undefined> | undefined;
  #sessionId: string | undefined;

  constructor(
    readonly world: World,
    readonly name: string,
    readonly listener: ListenerName,
  ) {}

  get books() {
    return this.world.books;
  }

  problem(text: string): void {
    this.books.problem(`${this.name}: ${text}`);
  }

  /** The connection, a new one where the last is gone; undefined where the daemon takes nobody any more. */
  async wire(): Promise<ChaosWire | undefined> {
    if (this.#wire && !this.#wire.isGone) return this.#wire;
    // By HTTP nobody notices until they ask.
    if (this.#wire && this.books.isEnding) return undefined;
    // Several may miss it at a time.
    this.#opening ??= ChaosWire.open(this.books, this.name, opener(this.listener, this.world));
    this.#wire = await this.#opening;
    this.#opening = undefined;
    return this.#wire;
  }

  /** A connection beside the usual one. */
  another(): Promise<ChaosWire | undefined> {
    return ChaosWire.open(this.books, `${this.name}'s second`, opener(this.listener, this.world));
  }

  kill(): void {
    this.#wire?.kill();
  }

  /** Nothing is read for so long. */
  async stall(ms: number): Promise<void> {
    const wire = this.#wire;
    wire?.pause();
    await Bun.sleep(ms);
    wire?.resume();
  }

  /** The reply, undefined where the connection was lost; an error that is not expected is a problem. */
  async ask<M extends MethodName>(
    method: M,
    params: Params<M>,
    { expected = [], onReply, wire }: QueryOptions = {},
  ): Promise<Reply<Result<M>> | undefined> {
    const by = wire ?? (await this.wire());
    const reply = (await by?.ask(method, params, onReply)) as Reply<Result<M>> | undefined;
    if (reply && !reply.ok && !this.#isExpected(reply, params, expected))
      this.problem(`${method} ${JSON.stringify(params).slice(0, 200)}: ${JSON.stringify(reply.error)}`);
    return reply;
  }

  #isExpected({ error }: Failure, params: object, expected: readonly ErrorCode[]): boolean {
    const { session_id } = params as { session_id?: string };
    if (expected.includes(error.code)) return true;
    if (error.code === "RUNTIME_UNAVAILABLE") return this.books.isEnding;
    return (
      error.code === "SESSION_NOT_FOUND" && session_id !== undefined && this.world.mayHaveEnded(session_id)
    );
  }

  /** A session of its own; undefined where there is none to be had. */
  async session(): Promise<string | undefined> {
    if (this.#sessionId !== undefined && !this.world.doomed.has(this.#sessionId)) return this.#sessionId;
    const reply = await this.ask("session.create", {}, { expected: ["MAX_SESSIONS_REACHED"] });
    if (!reply?.ok) return undefined;
    this.#sessionId = reply.data.session_id;
    this.world.sessions.add(this.#sessionId);
    return this.#sessionId;
  }

  async end(session_id: string): Promise<void> {
    this.world.doomed.add(session_id);
    if (session_id === this.#sessionId) this.#sessionId = undefined;
    await this.ask("session.destroy", { session_id, force: true });
  }

  /** It may be busy with what nobody knows of: another one is used from now on. */
  async leaveSession(): Promise<void> {
    if (this.#sessionId !== undefined) await this.end(this.#sessionId);
  }
}

export interface Success<T> {
  ok: true;
  data: T;
}
export interface Failure {
  ok: false;
  error: { code: ErrorCode; message: string; data?: Frame };
}
export type Reply<T> = Success<T> | Failure;

export interface QueryOptions {
  expected?: readonly ErrorCode[];
  onReply?: (reply: Frame) => void;
  wire?: ChaosWire;
}

function opener(listener: ListenerName, { daemon }: World): OpenCarrier {
  const address = { hostname: "127.0.0.1", port: daemon.port, token: daemon.token };
  if (listener === "http") return (events) => eachByItself(address, events);
  if (listener === "websocket") return (events) => openWebSocket(address, events);
  return (events) => openUnix(daemon.socketPath, events);
}

/** An answer by HTTP is that to its own request: where it cannot name it, it is known all the same. */
function eachByItself(address: HttpAddress, events: CarrierEvents): Carrier {
  const carriers = new Set<Carrier>();
  return {
    send(bytes) {
      const id = idOf(bytes);
      const line = (text: string) =>
        events.line(id === undefined ? text : text.replace(/^\{"id":"unknown"/, `{"id":"${id}"`));
      const carrier = openHttp(address, { line, closed: () => events.closed() });
      carriers.add(carrier);
      carrier.send(bytes);
    },
    endInput() {},
    pause: () => carriers.forEach((carrier) => void carrier.pause()),
    resume: () => carriers.forEach((carrier) => void carrier.resume()),
    terminate: () => carriers.forEach((carrier) => void carrier.terminate()),
  };
}

const idOf = (line: Uint8Array): string | undefined =>
  /^\{"id":"([\w-]+)"/.exec(Buffer.from(line).toString("latin1", 0, 100))?.[1];
