// Parses the target of `connect`: a path, an address, or an object.
import type { OpenCarrier } from "./carriers/carrier.ts";
import type { ChildTarget } from "./carriers/child.ts";
import type { WebTarget } from "./carriers/websocket.ts";
import type { ReconnectOptions } from "./persistent-link.ts";

/**
 * A path or `unix:PATH`; an address beginning with `http:`, `https:`, `ws:` or `wss:`; or one of the objects.
 * `open` is a carrier of the application.
 */
export type Target = string | { socket: string } | WebTarget | ChildTarget | { open: OpenCarrier };

export interface ConnectOptions extends ReconnectOptions {
  /** For HTTP, if the target has no token. */
  token?: string;
}

export type ParsedTarget =
  | { kind: "unix"; path: string }
  | ({ kind: "web" } & WebTarget)
  | ({ kind: "child" } & ChildTarget)
  | { kind: "own"; open: OpenCarrier };

export function parseTarget(target: Target, { token }: ConnectOptions): ParsedTarget {
  if (typeof target === "string") {
    if (!/^(?:https?|wss?):\/\//i.test(target))
      return { kind: "unix", path: target.replace(/^unix:(?:\/\/)?/, "") };
    return { kind: "web", url: target, ...(token === undefined ? {} : { token }) };
  }
  if ("open" in target) return { kind: "own", ...target };
  if ("socket" in target) return { kind: "unix", path: target.socket };
  if ("command" in target) return { kind: "child", ...target };
  if ("url" in target) return { kind: "web", ...(token === undefined ? {} : { token }), ...target };
  throw new TypeError("connect: expected a path, an address, or an object with socket, url, command or open");
}
