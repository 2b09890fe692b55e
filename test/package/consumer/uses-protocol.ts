// As above, for those who bring their own transport.
import {
  contractSchemas,
  encodeFrame,
  errorCodes,
  isMethodName,
  LineDecoder,
  type Params,
  type Result,
  validateParams,
} from "trl/protocol";

export function rightUse(line: Uint8Array): Uint8Array {
  const params: Params<"exec.run"> = validateParams("exec.run", { session_id: "s-1", command: "true" });
  params.command satisfies string;
  const result: Result<"system.ping"> = { uptime_s: 1, version: "1" };
  for (const it of new LineDecoder(1000).push(line)) it.kind satisfies string;
  errorCodes.SESSION_BUSY.http satisfies number;
  isMethodName("x") satisfies boolean;
  contractSchemas() satisfies object;
  return encodeFrame(result);
}

// @ts-expect-error a field is missing
export const wrong: Params<"exec.run"> = { session_id: "s-1" };
