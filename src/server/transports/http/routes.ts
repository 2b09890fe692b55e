// The paths of the HTTP transport: requests, streams, WebSocket upgrades, tickets, health, metrics and OpenAPI.
import type { SessionRegistry } from "../../../core/session/registry.ts";
import { parseMessage, unknownId } from "../../../protocol/envelope.ts";
import { type ErrorCode, errorCodes, TrlError } from "../../../protocol/errors.ts";
import { bodyMs, idleHttpSeconds } from "../../limits.ts";
import type { Server } from "../../server.ts";
import type { SocketData } from "../websocket.ts";
import { readBody } from "./body.ts";
import { eventFormat, hasEvents, resumed } from "./events.ts";
import { exchange } from "./exchange.ts";
import { Gate, type Refusal } from "./gate.ts";
import { metricsText, metricsType } from "./metrics.ts";
import { openApi } from "./openapi.ts";
import { Tickets, ticketSeconds } from "./tickets.ts";

export interface HttpOptions {
  hostname: string;
  port: number;
  allowedOrigins: string[];
  tls: { cert: string; key: string } | undefined;
  isToken(given: string): boolean;
  registry: SessionRegistry;
  server: Server;
  /** The state that an upgrade has passed on. */
  before: { url: string; port: number; fd?: number | undefined; tickets: Record<string, number> } | undefined;
}

export class HttpRoutes {
  readonly #gate: Gate;
  readonly tickets: Tickets;
  #isClosing = false;

  constructor(readonly options: HttpOptions) {
    this.#gate = new Gate(options, options.isToken);
    this.tickets = new Tickets(undefined, options.before?.tickets);
  }

  stopAccepting(): void {
    this.#isClosing = true;
  }

  async answer(request: Request, server: Bun.Server<SocketData>): Promise<Response | undefined> {
    const path = pathOf(request);
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (path === "/healthz" && isRead) return json({ ok: true });
    const refusal = this.#gate.refuseForeignOrigin(request);
    if (refusal) return this.#refuse(refusal);
    const response = await this.#routeOrFail(path, request, server);
    for (const [name, value] of Object.entries(this.#gate.crossOriginHeaders(request)))
      response?.headers.set(name, value);
    return response;
  }

  internalError(error: unknown): Response {
    const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.options.server.log.error("internal error", { cause });
    return this.#failure("INTERNAL_ERROR", "an internal error; the daemon's log has its cause");
  }

  async #routeOrFail(
    path: string,
    request: Request,
    server: Bun.Server<SocketData>,
  ): Promise<Response | undefined> {
    try {
      return await this.#route(path, request, server);
    } catch (error) {
      return error instanceof TrlError ? this.#failure(error.code, error.message) : this.internalError(error);
    }
  }

  async #route(
    path: string,
    request: Request,
    server: Bun.Server<SocketData>,
  ): Promise<Response | undefined> {
    if (request.method === "OPTIONS") return new Response(null, { status: 204 });
    if (this.#isClosing) return this.#failure("RUNTIME_UNAVAILABLE", "the daemon is shutting down");
    const call = `${request.method} ${path}`;
    if (call === "GET /ws") return this.#upgrade(request, server);
    const refusal = this.#gate.refuseWithoutToken(request);
    if (refusal) return this.#refuse(refusal);
    const { registry, server: own } = this.options;
    switch (call) {
      case "POST /":
      case "POST /rpc":
        return this.#call(request, server);
      case "POST /ticket":
        return json({ ticket: this.tickets.issue(), expires_in_s: ticketSeconds });
      case "GET /metrics":
        return new Response(metricsText(registry, own.counters), {
          headers: { "content-type": metricsType },
        });
      case "GET /openapi.json":
        return json(openApi());
      default:
        return this.#notFound(path);
    }
  }

  async #call(request: Request, server: Bun.Server<SocketData>): Promise<Response> {
    // After `bodyMs` the client gets an error reply; the connection of a client that stops sending times out later.
    server.timeout(request, bodyMs / 1000 + idleHttpSeconds);
    const body = await readBody(request, this.options.server.maxLineBytes, bodyMs);
    server.timeout(request, 0); // commands may run for any time
    const { fields } = parseMessage(body);
    if (typeof fields["method"] !== "string")
      throw new TrlError("INVALID_PARAMS", "method: expected a string");
    const resumedFields = resumed(fields, request.headers.get("last-event-id"));
    const line = resumedFields === fields ? oneLine(body) : Buffer.from(`${JSON.stringify(resumedFields)}\n`);
    const streams = hasEvents(resumedFields["method"]);
    const wantsEvents = (request.headers.get("accept") ?? "").includes("text/event-stream");
    const params = (resumedFields["params"] ?? {}) as Record<string, unknown>;
    const format = wantsEvents ? eventFormat(params["encoding"]) : (frame: Uint8Array) => frame;
    const { reply, frames } = await exchange(line, this.options.server, { format, streams });
    if (!frames) {
      const status = reply.errorCode ? errorCodes[reply.errorCode].http : 200;
      return new Response(reply.bytes.subarray(0, -1), { status, headers: jsonHeaders });
    }
    const type = wantsEvents ? "text/event-stream" : "application/x-ndjson";
    return new Response(frames, { headers: { "content-type": type, "cache-control": "no-store" } });
  }

  #upgrade(request: Request, server: Bun.Server<SocketData>): Response | undefined {
    const ticket = new URL(request.url).searchParams.get("ticket");
    const isAllowed = ticket === null ? !this.#gate.refuseWithoutToken(request) : this.tickets.redeem(ticket);
    if (!isAllowed)
      return this.#refuse({ status: 401, code: "AUTH_FAILED", message: "expected a ticket or a token" });
    if (server.upgrade(request, { data: { connection: undefined } })) return undefined;
    return this.#failure("INVALID_PARAMS", "expected a WebSocket");
  }

  #notFound(path: string): Response {
    const method = Object.hasOwn(methodOf, path) ? methodOf[path] : undefined;
    if (!method) return this.#failure("INVALID_PARAMS", "no such path", 404);
    const response = this.#failure("INVALID_PARAMS", `expected ${method}`, 405);
    response.headers.set("allow", method);
    return response;
  }

  #failure(code: ErrorCode, message: string, status: number = errorCodes[code].http): Response {
    const { errors } = this.options.server.counters;
    errors.set(code, (errors.get(code) ?? 0) + 1);
    const body = JSON.stringify({ id: unknownId, ok: false, error: { code, message } });
    return new Response(body, { status, headers: jsonHeaders });
  }

  #refuse({ status, code, message }: Refusal): Response {
    const response = this.#failure(code, message, status);
    if (status === 401) response.headers.set("www-authenticate", "Bearer");
    return response;
  }
}

const methodOf: Record<string, string> = {
  "/": "POST",
  "/rpc": "POST",
  "/ticket": "POST",
  "/ws": "GET",
  "/healthz": "GET",
  "/metrics": "GET",
  "/openapi.json": "GET",
};

/** Not by `new URL`, which throws if the Host header is malformed. */
const pathOf = ({ url }: Request): string => /^(?:https?:\/\/[^/]*)?([^?#]*)/.exec(url)?.[1] ?? "";

/** Newlines between the tokens of JSON are white space, so spaces can replace them. */
function oneLine(body: Uint8Array): Uint8Array {
  const line = Buffer.alloc(body.length + 1, "\n");
  line.set(body);
  for (let at = 0; at < body.length; at++) if (line[at] === 0x0a || line[at] === 0x0d) line[at] = 0x20;
  return line;
}

const jsonHeaders = {
  "content-type": "application/json",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
};
const json = (value: unknown): Response => new Response(JSON.stringify(value), { headers: jsonHeaders });
