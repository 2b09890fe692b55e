// `connect` for Node.js and Bun: every way in.
import { discoveryDirs } from "../util/runtime-dir.ts";
import { resolveSocketPath } from "../util/socket-path.ts";
import type { OpenCarrier } from "./carriers/carrier.ts";
import { childCarrier } from "./carriers/child.ts";
import { unixCarrier } from "./carriers/unix.ts";
import { type WebSocketConstructor, webCarrier } from "./carriers/websocket.ts";
import { type Discovered, discoverIn } from "./discover.ts";
import { type ConnectOptions, plainTarget, type Target } from "./target.ts";
import { Trl } from "./trl.ts";

/** Rejects with a ConnectionError where no daemon is to be reached. Without a target: the socket that `trl` uses. */
export async function connect(target: Target = defaultSocket(), options: ConnectOptions = {}): Promise<Trl> {
  return await Trl.over(carrierTo(target, options), options);
}

/** The carrier alone, for whoever passes frames on. */
export function carrierTo(target: Target = defaultSocket(), options: ConnectOptions = {}): OpenCarrier {
  const token = options.token ?? process.env["TRL_AUTH_TOKEN"];
  const plain = plainTarget(target, token === undefined ? {} : { token });
  if (plain.kind === "own") return plain.open;
  if (plain.kind === "unix") return unixCarrier(plain.path, process.env);
  return plain.kind === "child" ? childCarrier(plain) : webCarrier(plain, webSocket);
}

/** The daemons of this user on this machine that can be reached, the oldest first. */
export function discover(directories = discoveryDirs(process.env)): Promise<Discovered[]> {
  return discoverIn(directories);
}

function defaultSocket(): string {
  const { TRL_SOCKET_PATH, TRL_SOCKET_DIR } = process.env;
  return resolveSocketPath({ socketPath: TRL_SOCKET_PATH, socketDir: TRL_SOCKET_DIR });
}

/** Node.js has one of its own from version 22 on. */
async function webSocket(): Promise<WebSocketConstructor> {
  if (typeof WebSocket !== "undefined") return WebSocket;
  const library: { WebSocket: WebSocketConstructor } = await import("ws");
  return library.WebSocket;
}
