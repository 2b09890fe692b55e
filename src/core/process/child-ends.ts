// Hears from the system that children have ended. Bun hears of those that it started by other means, and takes their
// wait status itself.
import { standstill } from "./standstill.ts";

/** Signals that come together are answered once, and by then Bun has taken the status of its own. */
const gatherMs = 10;

export function whenChildrenEnd(act: () => void): void {
  let isExpected = false;
  process.on("SIGCHLD", () => {
    if (isExpected) return;
    isExpected = true;
    setTimeout(() => {
      isExpected = false;
      if (!standstill.over) act();
    }, gatherMs);
  });
}
