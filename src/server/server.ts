// The server behind all listeners: builds the way of a request (dispatcher, router, handlers) and opens connections.
import type { Log } from "../core/log.ts";
import type { Validator } from "../protocol/validate.ts";
import type { ByteEncoder } from "../util/byte-encoder.ts";
import { Connection, type ConnectionServices } from "./connection.ts";
import type { ServerCounters } from "./counters.ts";
import { Dispatcher } from "./dispatch.ts";
import { FrontendAdapter } from "./frontend/adapter.ts";
import { createHandlers, type HandlerServices } from "./handlers/handlers.ts";
import { FrameRests } from "./outgoing-queue.ts";
import type { ConnectionLimits } from "./quota.ts";
import { Router } from "./router.ts";
import { StreamFrames } from "./stream-frames.ts";
import { TerminalFrames } from "./terminal-frames.ts";
import { QueryReplies } from "./terminal-replies.ts";
import type { TransportStream } from "./transports/transport-stream.ts";

export interface ServerOptions
  extends Omit<HandlerServices, "streamFrames" | "terminalFrames" | "queryReplies"> {
  connectionLimits: ConnectionLimits;
  validator: Validator;
  encoder: ByteEncoder;
  isToken(given: string): boolean;
  log: Log;
}

export class Server implements ConnectionServices {
  readonly dispatcher: Dispatcher;
  readonly counters: ServerCounters;
  readonly connectionLimits: ConnectionLimits;
  readonly maxLineBytes: number;
  readonly rests = new FrameRests();
  readonly log: Log;

  constructor(options: ServerOptions) {
    const { registry, runtimes, labels, counters, connectionLimits, maxLineBytes, isToken, log } = options;
    const { validator, encoder } = options;
    const { terminals } = registry;
    const terminalFrames = new TerminalFrames(encoder);
    const handlers = createHandlers({
      ...options,
      terminalFrames,
      streamFrames: new StreamFrames(encoder),
      queryReplies: new QueryReplies(),
    });
    const router = new Router({ runtimes, registry, handlers, labels, validator });
    const frontend = new FrontendAdapter({ router, terminals, terminalFrames, validator, isToken });
    this.dispatcher = new Dispatcher(router, frontend, counters, log);
    this.counters = counters;
    this.connectionLimits = connectionLimits;
    this.maxLineBytes = maxLineBytes;
    this.log = log;
  }

  connect(stream: TransportStream): Connection {
    this.counters.connections++;
    this.counters.connectionsTotal++;
    return new Connection(stream, this, `c${this.counters.connectionsTotal}`);
  }

  /** The transport of a connection is closed; once for each connection. */
  disconnect(connection: Connection): void {
    this.counters.connections--;
    connection.closed();
  }
}
