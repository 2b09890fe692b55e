// `connect` for Node.js and Bun: over every carrier.
import { discoveryDirs } from "../util/runtime-dir.ts";
import { resolveSocketPath } from "../util/socket-path.ts";
import type { OpenCarrier } from "./carriers/carrier.ts";
import { childCarrier } from "./carriers/child.ts";
import { unixCarrier } from "./carriers/unix.ts";
import { type WebSocketConstructor, webCarrier } from "./carriers/websocket.ts";
import { type Discovered, discoverIn } from "./discover.ts";
import { type ConnectOptions, parseTarget, type Target } from "./target.ts";
import { Trl } from "./trl.ts";

/** Rejects with a ConnectionError if no daemon can be reached. The default target is the socket that `trl` uses. */
export async function connect(target: Target = defaultSocket(), options: ConnectOptions = {}): Promise<Trl> {
  return await Trl.over(carrierTo(target, options), options);
}

/** The carrier alone, for programs that forward frames. */
export function carrierTo(target: Target = defaultSocket(), options: ConnectOptions = {}): OpenCarrier {
  const token = options.token ?? process.env["TRL_AUTH_TOKEN"];
  const parsed = parseTarget(target, token === undefined ? {} : { token });
  if (parsed.kind === "own") return parsed.open;
  if (parsed.kind === "unix") return unixCarrier(parsed.path, process.env);
  return parsed.kind === "child" ? childCarrier(parsed) : webCarrier(parsed, webSocket);
}

/** The daemons of this user on this machine that accept connections, oldest first. */
export function discover(directories = discoveryDirs(process.env)): Promise<Discovered[]> {
  return discoverIn(directories);
}

function defaultSocket(): string {
  const { TRL_SOCKET_PATH, TRL_SOCKET_DIR } = process.env;
  return resolveSocketPath({ socketPath: TRL_SOCKET_PATH, socketDir: TRL_SOCKET_DIR });
}

/** Node.js has a WebSocket from version 22 on. */
async function webSocket(): Promise<WebSocketConstructor> {
  if (typeof WebSocket !== "undefined") return WebSocket;
  const library: { WebSocket: WebSocketConstructor } = await import("ws");
  return library.WebSocket;
}
