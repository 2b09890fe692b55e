// The HTTP transport: requests and WebSockets on one port.
import type { ListeningSocket } from "../../../platform/listening.ts";
import { idleHttpSeconds } from "../../limits.ts";
import { untilDrained } from "../drain.ts";
import type { Listener } from "../listener.ts";
import { type SocketData, WebSockets } from "../websocket.ts";
import { HttpSocket } from "./http-socket.ts";
import { type HttpOptions, HttpRoutes } from "./routes.ts";

export class HttpListener implements Listener {
  readonly #options: HttpOptions;
  readonly #routes: HttpRoutes;
  readonly #webSockets: WebSockets;
  readonly #socket: HttpSocket<SocketData>;

  constructor(options: HttpOptions) {
    const { port, server, before } = options;
    this.#options = options;
    this.#routes = new HttpRoutes(options);
    this.#webSockets = new WebSockets(server);
    this.#socket = new HttpSocket(port, (own) => this.#listen(own), server.log, before);
  }

  get url(): string {
    return this.#socket.url;
  }

  get port(): number {
    return this.#socket.port;
  }

  get listening(): ListeningSocket | undefined {
    return this.#socket.socket;
  }

  get isSending(): boolean {
    return this.#socket.pendingRequests > 0 || this.#webSockets.isSending;
  }

  /** Unredeemed tickets, with the ms until they expire. */
  tickets(): Record<string, number> {
    return this.#routes.tickets.pack();
  }

  stopAccepting(): void {
    this.#routes.stopAccepting();
  }

  stopStreaming(): void {
    this.#webSockets.stopStreaming();
  }

  closeConnections(): void {
    this.#webSockets.closeConnections();
  }

  async drainAndClose(): Promise<void> {
    await untilDrained(
      () => this.#socket.pendingRequests > 0 || this.#webSockets.isBusy,
      () => this.#options.server.counters.bytesOut,
    );
    await this.#socket.close();
  }

  #listen(port: number): Bun.Server<SocketData> {
    const { hostname, tls } = this.#options;
    return Bun.serve<SocketData>({
      hostname,
      port,
      ...(tls ? { tls } : {}),
      idleTimeout: idleHttpSeconds,
      // Bun's own limit answers with a bare 413 before the token is checked. `readBody` bounds the memory; Bun discards
      // a body that is not read.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      reusePort: false, // else another process of the same user could share the port and get requests
      fetch: (request, own) => this.#routes.answer(request, own),
      websocket: this.#webSockets.handler(),
      error: (cause) => this.#routes.internalError(cause),
    });
  }
}
