// `connect` for browsers: WebSocket, or a carrier of one's own.
import { TrlError } from "../protocol/errors.ts";
import type { OpenCarrier } from "./carriers/carrier.ts";
import { webCarrier } from "./carriers/websocket.ts";
import { type ConnectOptions, plainTarget, type Target } from "./target.ts";
import { Trl } from "./trl.ts";

/** Rejects with a ConnectionError where no daemon is to be reached. */
export async function connect(target: Target, options: ConnectOptions = {}): Promise<Trl> {
  return await Trl.over(carrierTo(target, options), options);
}

/** The carrier alone, for whoever passes frames on. */
export function carrierTo(target: Target, options: ConnectOptions = {}): OpenCarrier {
  const plain = plainTarget(target, options);
  if (plain.kind === "own") return plain.open;
  if (plain.kind === "web") return webCarrier(plain, () => WebSocket);
  throw new TrlError(
    "UNSUPPORTED",
    "a browser reaches a daemon by its HTTP address, or by a carrier of your own",
  );
}
