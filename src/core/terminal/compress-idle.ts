// What a terminal has printed is kept for who comes back; while nobody does, packed.
import { steadyMs } from "../lifetime/instant.ts";
import { packBytesPerTurn, ringIdleMs } from "../limits.ts";
import type { Terminal } from "./terminal.ts";

/** To be called now and then; does a little at a time. */
export function packIdle(terminals: Iterable<Terminal>): void {
  const now = steadyMs();
  let bytes = 0;
  for (const { isAttended, lastActivity, ring } of terminals) {
    if (isAttended || now - lastActivity.steadyMs < ringIdleMs) continue;
    bytes += ring.pack();
    if (bytes > packBytesPerTurn) return;
  }
}
