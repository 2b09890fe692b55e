// What is behind the HTTP door: one request a call, streams behind it, health, numbers, a description.
import type { SessionRegistry } from "../../../core/session/registry.ts";
import { parseMessage, unknownId } from "../../../protocol/envelope.ts";
import { type ErrorCode, errorCodes, TrlError } from "../../../protocol/errors.ts";
import type { ServerCounters } from "../../counters.ts";
import type { Dispatcher } from "../../dispatch.ts";
import { bodyMs, idleHttpSeconds } from "../../limits.ts";
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
  dispatcher: Dispatcher;
  counters: ServerCounters;
  maxLineBytes: number;
  /** As the program before us has left it. */
  before: { url: string; port: number; fd?: number | undefined; tickets: Record<string, number> } | undefined;
}

export class HttpRoutes {
  readonly sockets = new Set<Bun.ServerWebSocket<SocketData>>();
  readonly #gate: Gate;
  readonly tickets: Tickets;
  #isClosing = false;

  constructor(readonly options: HttpOptions) {
    this.#gate = new Gate(options, options.isToken);
    this.tickets = new Tickets(undefined, options.before?.tickets);
  }

  get isSending(): boolean {
    return [...this.sockets].some(({ data }) => data.connection?.isSending === true);
  }

  fallSilent(): void {
    for (const { data } of this.sockets) data.connection?.fallSilent();
  }

  /** By a code that says: come again. */
  cut(): void {
    for (const socket of this.sockets) socket.close(serviceRestart);
  }

  /** Whether a WebSocket is being answered. */
  get isBusy(): boolean {
    return [...this.sockets].some(({ data }) => data.connection?.isBusy === true);
  }

  stopAccepting(): void {
    this.#isClosing = true;
  }

  async answer(request: Request, server: Bun.Server<SocketData>): Promise<Response | undefined> {
    const path = pathOf(request);
    const isLook = request.method === "GET" || request.method === "HEAD";
    if (path === "/healthz" && isLook) return json({ ok: true });
    const stranger = this.#gate.refuseStrangers(request);
    if (stranger) return this.#refusal(stranger);
    const response = await this.#routeOrFail(path, request, server);
    for (const [name, value] of Object.entries(this.#gate.crossOriginHeaders(request)))
      response?.headers.set(name, value);
    return response;
  }

  internalError(error: unknown): Response {
    const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.options.dispatcher.log.error("internal error", { cause });
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
    const missing = this.#gate.refuseWithoutToken(request);
    if (missing) return this.#refusal(missing);
    const { registry, counters } = this.options;
    switch (call) {
      case "POST /":
      case "POST /rpc":
        return this.#call(request, server);
      case "POST /ticket":
        return json({ ticket: this.tickets.issue(), expires_in_s: ticketSeconds });
      case "GET /metrics":
        return new Response(metricsText(registry, counters), { headers: { "content-type": metricsType } });
      case "GET /openapi.json":
        return json(openApi());
      default:
        return this.#nothingThere(path);
    }
  }

  async #call(request: Request, server: Bun.Server<SocketData>): Promise<Response> {
    const { maxLineBytes } = this.options;
    // After `bodyMs` the client is answered, not cut off; one that never sends the rest is.
    server.timeout(request, bodyMs / 1000 + idleHttpSeconds);
    const body = await readBody(request, maxLineBytes, bodyMs);
    server.timeout(request, 0); // a command takes the time it takes
    const { fields: asked } = parseMessage(body);
    if (typeof asked["method"] !== "string")
      throw new TrlError("INVALID_PARAMS", "method: expected a string");
    const again = resumed(asked, request.headers.get("last-event-id"));
    const line = again === asked ? oneLine(body) : Buffer.from(`${JSON.stringify(again)}\n`);
    const streams = hasEvents(again["method"]);
    const wantsEvents = (request.headers.get("accept") ?? "").includes("text/event-stream");
    const params = (again["params"] ?? {}) as Record<string, unknown>;
    const format = wantsEvents ? eventFormat(params["encoding"]) : (frame: Uint8Array) => frame;
    const { reply, frames } = await exchange(line, this.options, { format, streams });
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
      return this.#refusal({ status: 401, code: "AUTH_FAILED", message: "expected a ticket or a token" });
    if (server.upgrade(request, { data: { connection: undefined } })) return undefined;
    return this.#failure("INVALID_PARAMS", "expected a WebSocket");
  }

  #nothingThere(path: string): Response {
    const method = Object.hasOwn(methodOf, path) ? methodOf[path] : undefined;
    if (!method) return this.#failure("INVALID_PARAMS", "there is nothing at this path", 404);
    const response = this.#failure("INVALID_PARAMS", `expected ${method}`, 405);
    response.headers.set("allow", method);
    return response;
  }

  #failure(code: ErrorCode, message: string, status: number = errorCodes[code].http): Response {
    const { errors } = this.options.counters;
    errors.set(code, (errors.get(code) ?? 0) + 1);
    const body = JSON.stringify({ id: unknownId, ok: false, error: { code, message } });
    return new Response(body, { status, headers: jsonHeaders });
  }

  #refusal({ status, code, message }: Refusal): Response {
    const response = this.#failure(code, message, status);
    if (status === 401) response.headers.set("www-authenticate", "Bearer");
    return response;
  }
}

/** Of a WebSocket's end (RFC 6455, registered later). */
const serviceRestart = 1012;

const methodOf: Record<string, string> = {
  "/": "POST",
  "/rpc": "POST",
  "/ticket": "POST",
  "/ws": "GET",
  "/healthz": "GET",
  "/metrics": "GET",
  "/openapi.json": "GET",
};

/** By hand: with a Host that is none, the address is none either. */
const pathOf = ({ url }: Request): string => /^(?:https?:\/\/[^/]*)?([^?#]*)/.exec(url)?.[1] ?? "";

/** A newline in valid JSON is only space. */
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
