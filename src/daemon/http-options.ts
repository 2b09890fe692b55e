// Reads --http and the flags that belong to it. Without TLS the address must be a loopback address, unless --insecure-http
// is given.
import { isLoopback } from "../server/transports/http/gate.ts";
import type { FlagName } from "./flags.ts";
import { OptionError } from "./option-error.ts";

export interface HttpListenerOptions {
  hostname: string;
  port: number;
  allowedOrigins: string[];
  tls: { certFile: string; keyFile: string } | undefined;
}

export function readHttpOptions(
  text: (name: FlagName) => string | undefined,
  isInsecureAllowed: boolean,
): HttpListenerOptions | undefined {
  const address = text("http");
  if (address === undefined) return undefined;
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(address) ?? [];
  const hostname = (bracketed ?? plain) || "127.0.0.1";
  if (port === undefined || Number(port) > 65535) {
    throw new OptionError(`--http needs HOST:PORT, such as 127.0.0.1:9100, not "${address}"`);
  }
  const tls = tlsFiles(text("tls-cert"), text("tls-key"));
  if (!isLoopback(hostname) && !tls && !isInsecureAllowed) {
    throw new OptionError(
      `--http ${address} can be reached by others: give --tls-cert and --tls-key, or --insecure-http`,
    );
  }
  return { hostname, port: Number(port), allowedOrigins: origins(text("allow-origin")), tls };
}

function tlsFiles(certFile: string | undefined, keyFile: string | undefined) {
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new OptionError("--tls-cert and --tls-key belong together");
  }
  return certFile !== undefined && keyFile !== undefined ? { certFile, keyFile } : undefined;
}

function origins(list: string | undefined): string[] {
  return (list ?? "").split(",").flatMap((given) => {
    const origin = given.trim();
    if (origin === "") return [];
    if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw new OptionError(`--allow-origin needs origins such as https://example.org, not "${origin}"`);
    }
    return [origin];
  });
}
