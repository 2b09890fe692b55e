// How a command's output is come by.
import type { Params } from "../protocol/methods.ts";

export interface StreamSetup {
  id: string;
  /** Undefined where the command has been started already. */
  start: Partial<Params<"exec.stream">> | undefined;
  /** It may have been started already, by a request whose reply was lost. */
  isSent?: boolean;
  attach: Partial<Params<"exec.attach">>;
  asBytes: boolean;
  signal: AbortSignal | undefined;
}
