// Access control of the HTTP transport. A web page must not reach the daemon: neither by DNS rebinding (Host), nor from a
// foreign origin (Origin), nor without the token.

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
const anyAddress = ["0.0.0.0", "::"];

export const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "::1" || /^127(?:\.\d{1,3}){3}$/.test(hostname);

export class Gate {
  readonly #names: Set<string>;
  readonly #acceptsAddresses: boolean;
  readonly #origins: Set<string>;

  constructor(
    { hostname, allowedOrigins }: Binding,
    readonly isToken: (given: string) => boolean,
  ) {
    const own = isLoopback(hostname) ? [...loopbackNames, hostname] : [hostname.toLowerCase()];
    this.#acceptsAddresses = anyAddress.includes(hostname);
    this.#origins = new Set(allowedOrigins);
    this.#names = new Set([
      ...own,
      ...(this.#acceptsAddresses ? loopbackNames : []),
      ...allowedOrigins.map((origin) => new URL(origin).hostname.replace(/^\[|\]$/g, "")),
    ]);
  }

  /** Checked before anything else of the request. */
  refuseForeignOrigin(request: Request): Refusal | undefined {
    const host = hostOf(request.headers.get("host") ?? "");
    if (host === undefined || !this.#isOwnName(host)) {
      return { status: 403, code: "AUTH_FAILED", message: "Host: not a name of this daemon" };
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

  /** CORS headers: a page of an allowed origin may read the replies. */
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

  #isOwnName(host: string): boolean {
    return this.#names.has(host) || (this.#acceptsAddresses && isAddress(host));
  }
}

/** `[::1]:9100` -> `::1`. The port is ignored: a tunnel or a proxy may use another one. */
function hostOf(header: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]/@]+))(?::\d{1,5})?$/i.exec(header) ?? [];
  return (bracketed ?? plain)?.toLowerCase().replace(/\.$/, "");
}

const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
/** `URL.canParse` accepts this, although it is not an address. */
const endsWithColon = /(?<!:):$/;

/** Whether a host is an IP address. Same as `isIP` of `node:net`; that import costs milliseconds of every start. */
export const isAddress = (host: string): boolean =>
  host.includes(":") ? !endsWithColon.test(host) && URL.canParse(`http://[${host}]`) : ipv4.test(host);
