// How a command ended, if the daemon knows it.
import type { ExitFrame, ExitReason } from "../protocol/exec.ts";
import type { Receipt } from "../protocol/isolation.ts";
import { type Camelized, camelized } from "./naming.ts";

/** In the spelling of the wire. */
export type KnownExit = Omit<ExitFrame, "stream_id" | "type" | "error" | "reason" | "receipt"> & {
  reason: ExitReason;
  receipt: Receipt;
};
export type CommandExit = Camelized<KnownExit>;

/** From an exit frame without `error`, which has all the fields. */
export function commandExit({ stream_id, type, error, ...exit }: ExitFrame): CommandExit {
  return camelized(exit as KnownExit);
}
