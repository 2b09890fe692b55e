// `connect` for browsers: over a WebSocket, or over a carrier of the application.
import { TrlError } from "../protocol/errors.ts";
import type { OpenCarrier } from "./carriers/carrier.ts";
import { webCarrier } from "./carriers/websocket.ts";
import { type ConnectOptions, parseTarget, type Target } from "./target.ts";
import { Trl } from "./trl.ts";

/** Rejects with a ConnectionError if no daemon can be reached. */
export async function connect(target: Target, options: ConnectOptions = {}): Promise<Trl> {
  return await Trl.over(carrierTo(target, options), options);
}

/** The carrier alone, for programs that forward frames. */
export function carrierTo(target: Target, options: ConnectOptions = {}): OpenCarrier {
  const parsed = parseTarget(target, options);
  if (parsed.kind === "own") return parsed.open;
  if (parsed.kind === "web") return webCarrier(parsed, () => WebSocket);
  throw new TrlError(
    "UNSUPPORTED",
    "a browser reaches a daemon by its HTTP address, or by a carrier of your own",
  );
}
