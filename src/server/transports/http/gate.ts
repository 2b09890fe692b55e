// Who may come in by HTTP. A page in a browser must not get at the daemon, neither by a name that it makes point here
// (Host), nor from its own origin (Origin), nor without the token.
import { isAddress } from "./is-address.ts";

export interface Binding {
  hostname: string;
  port: number;
  allowedOrigins: string[];
}

export interface Refusal {
  status: 401 | 403;
  code: "AUTH_FAILED";
  message: string;
}

export const loopbackNames = ["localhost", "127.0.0.1", "::1"];
const everywhere = ["0.0.0.0", "::"];

export const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "::1" || /^127(?:\.\d{1,3}){3}$/.test(hostname);

export class Gate {
  readonly #names: Set<string>;
  readonly #takesAddresses: boolean;
  readonly #origins: Set<string>;

  constructor(
    { hostname, allowedOrigins }: Binding,
    readonly isToken: (given: string) => boolean,
  ) {
    const own = isLoopback(hostname) ? [...loopbackNames, hostname] : [hostname.toLowerCase()];
    this.#takesAddresses = everywhere.includes(hostname);
    this.#origins = new Set(allowedOrigins);
    this.#names = new Set([
      ...own,
      ...(this.#takesAddresses ? loopbackNames : []),
      ...allowedOrigins.map((origin) => new URL(origin).hostname.replace(/^\[|\]$/g, "")),
    ]);
  }

  /** Before anything else is looked at. */
  refuseStrangers(request: Request): Refusal | undefined {
    const host = hostOf(request.headers.get("host") ?? "");
    if (host === undefined || !this.#isOurName(host)) {
      return { status: 403, code: "AUTH_FAILED", message: "Host: this daemon does not go by that name" };
    }
    const origin = request.headers.get("origin");
    if (origin !== null && !this.#origins.has(origin)) {
      return { status: 403, code: "AUTH_FAILED", message: "Origin: not one of --allow-origin" };
    }
    return undefined;
  }

  refuseWithoutToken(request: Request): Refusal | undefined {
    const [, token] = /^Bearer +(\S+) *$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    if (token !== undefined && this.isToken(token)) return undefined;
    return { status: 401, code: "AUTH_FAILED", message: "expected the header Authorization: Bearer TOKEN" };
  }

  /** A page of an allowed origin may read the answers. */
  crossOriginHeaders(request: Request): Record<string, string> {
    const origin = request.headers.get("origin");
    if (origin === null || !this.#origins.has(origin)) return {};
    return {
      "access-control-allow-origin": origin,
      "access-control-allow-headers": "authorization, content-type, last-event-id",
      "access-control-allow-methods": "GET, POST",
      "access-control-max-age": "600",
      vary: "origin",
    };
  }

  #isOurName(host: string): boolean {
    return this.#names.has(host) || (this.#takesAddresses && isAddress(host));
  }
}

/** `[::1]:9100` -> `::1`. The port is not compared: a tunnel or a proxy may have another. */
function hostOf(header: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]/@]+))(?::\d{1,5})?$/i.exec(header) ?? [];
  return (bracketed ?? plain)?.toLowerCase().replace(/\.$/, "");
}
