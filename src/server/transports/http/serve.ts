// The HTTP door: it listens, and lets in by request or by WebSocket.

import { idleHttpSeconds } from "../../limits.ts";
import { untilDrained } from "../drain.ts";
import type { Listener } from "../listener.ts";
import { type SocketData, webSocketHandler } from "../websocket.ts";
import { HttpSocket } from "./http-socket.ts";
import { type HttpOptions, HttpRoutes } from "./routes.ts";

export interface HttpListener extends Listener {
  url: string;
  port: number;
  /** Those that can still be redeemed, and for how many ms. */
  tickets(): Record<string, number>;
}

export function serveHttp(options: HttpOptions): HttpListener {
  const house = new HttpRoutes(options);
  const { hostname, tls, dispatcher, counters, maxLineBytes, before } = options;
  const listen = (port: number) =>
    Bun.serve<SocketData>({
      hostname,
      port,
      ...(tls ? { tls } : {}),
      idleTimeout: idleHttpSeconds,
      // Bun's own limit answers with a bare 413 before the token is checked. `readBody` bounds what is kept; a body that
      // is not read is discarded as it comes.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      reusePort: false, // else another process of ours could share the port, and the requests
      fetch: (request, own) => house.answer(request, own),
      websocket: webSocketHandler({ dispatcher, counters, maxLineBytes, sockets: house.sockets }),
      error: (cause) => house.internalError(cause),
    });
  const listener = new HttpSocket(options.port, listen, dispatcher.log, before);
  return {
    url: listener.url,
    port: listener.port,
    get listening() {
      return listener.socket;
    },
    get isSending() {
      return listener.pendingRequests > 0 || house.isSending;
    },
    fallSilent: () => house.fallSilent(),
    cut: () => house.cut(),
    tickets: () => house.tickets.pack(),
    stopAccepting: () => house.stopAccepting(),
    async farewell() {
      await untilDrained(
        () => listener.pendingRequests > 0 || house.isBusy,
        () => counters.bytesOut,
      );
      await listener.close();
    },
  };
}
