import { type Expiry, expiryOf } from "../lifetime/expiry.ts";
import type { Terminal } from "./terminal.ts";

/** What somebody watches is not too old, and what somebody waits for is not idle. */
export function terminalExpiry(terminal: Terminal): Expiry | undefined {
  const { createdAt, lastActivity, spec, isAttended } = terminal;
  if (terminal.exit || terminal.displayCount > 0) return undefined;
  const { idleTimeoutS, maxAgeS } = spec;
  return expiryOf({ createdAt, lastActivity, idleTimeoutS, maxAgeS, isInUse: isAttended });
}
