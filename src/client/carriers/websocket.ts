// A carrier over the daemon's WebSocket. A browser can send no header with a WebSocket, so every client presents a
// ticket, which it gets from the daemon for the token, or from a server of the application that has the token.
import { type ErrorCode, TrlError } from "../../protocol/errors.ts";
import { type Carrier, NoDaemonError, type OpenCarrier } from "./carrier.ts";

export interface WebTarget {
  /** `http://127.0.0.1:9100`, with `https:`, `ws:` or `wss:` as well; a path before `/ws` is kept. */
  url: string;
  token?: string;
  /** Instead of the token: returns a new ticket each time, from a server that has the token. */
  ticket?: () => string | Promise<string>;
}

export type WebSocketConstructor = new (url: string) => WebSocket;

export function webCarrier(
  target: WebTarget,
  webSocket: () => WebSocketConstructor | Promise<WebSocketConstructor>,
): OpenCarrier {
  const base = new URL(target.url.replace(/^ws/i, "http"));
  base.pathname = base.pathname.replace(/\/+$/, "");
  return async ({ message, closed }) => {
    const [ticket, Socket] = await Promise.all([
      target.ticket?.() ?? requestTicket(base, target),
      webSocket(),
    ]);
    const address = under(base, "/ws");
    address.protocol = base.protocol.replace("http", "ws");
    address.searchParams.set("ticket", ticket);
    return await openSocket(new Socket(address.href), base.origin, { message, closed });
  };
}

function openSocket(
  socket: WebSocket,
  origin: string,
  { message, closed }: Parameters<OpenCarrier>[0],
): Promise<Carrier> {
  return new Promise<Carrier>((resolve, reject) => {
    let isOpen = false;
    const timer = setTimeout(() => {
      reject(new Error(`${origin} does not answer`));
      socket.close();
    }, answerMs);
    socket.onopen = () => {
      isOpen = true;
      clearTimeout(timer);
      resolve({ send: (frame) => socket.send(frame), close: () => socket.close() });
    };
    socket.onmessage = ({ data }) => message(String(data));
    socket.onerror = () => {}; // "close" follows and reports it
    socket.onclose = ({ code, reason }) => {
      clearTimeout(timer);
      const why = reason || (code === 1006 ? "the connection was lost" : `code ${code}`);
      const error = new Error(`the WebSocket to ${origin} was closed: ${why}`);
      if (isOpen) closed(error);
      else reject(error);
    };
  });
}

/** Timeout for the ticket and for the WebSocket handshake. */
const answerMs = 10_000;

async function requestTicket(base: URL, { token }: WebTarget): Promise<string> {
  const response = await fetch(under(base, "/ticket"), {
    method: "POST",
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(answerMs),
  }).catch((error: unknown) => {
    if (isRefusal(error))
      throw new NoDaemonError(`no daemon is listening on ${base.origin}`, { cause: error });
    throw new Error(`cannot reach ${base.origin}: ${(error as Error).message}`, { cause: error });
  });
  const answer = (await response.json().catch(() => undefined)) as TicketReply | undefined;
  if (answer?.ticket !== undefined) return answer.ticket;
  if (answer?.error) throw new TrlError(answer.error.code, answer.error.message);
  throw new Error(`${base.origin} answered with status ${response.status}: it may not be a daemon of trl`);
}

interface TicketReply {
  ticket?: string;
  error?: { code: ErrorCode; message: string };
}

/** The error codes of Node.js and Bun; browsers give none. */
function isRefusal(error: unknown): boolean {
  const { code, cause } = error as { code?: string; cause?: { code?: string } };
  return code === "ConnectionRefused" || code === "ECONNREFUSED" || cause?.code === "ECONNREFUSED";
}

function under(base: URL, path: string): URL {
  const address = new URL(base);
  address.pathname = base.pathname.replace(/\/$/, "") + path;
  return address;
}
