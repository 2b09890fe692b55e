// How a command ended, where that is known.
import type { ExitFrame, ExitReason } from "../protocol/exec.ts";
import type { Receipt } from "../protocol/isolation.ts";
import { type Camelized, camelized } from "./naming.ts";

/** As the daemon spells it. */
export type KnownExit = Omit<ExitFrame, "stream_id" | "type" | "error" | "reason" | "receipt"> & {
  reason: ExitReason;
  receipt: Receipt;
};
export type CommandExit = Camelized<KnownExit>;

/** Of a frame that says no error: all is in it. */
export function commandExit({ stream_id, type, error, ...exit }: ExitFrame): CommandExit {
  return camelized(exit as KnownExit);
}
