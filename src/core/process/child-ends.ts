// Hears from the system that children have ended. Bun hears of those that it started by other means, and takes their
// wait status itself.
import { standstill } from "./standstill.ts";

/** Signals that come together are answered once, and by then Bun has taken the status of its own. */
const gatherMs = 10;

export function whenChildrenEnd(act: () => void): void {
  let timer: Timer | undefined;
  process.on("SIGCHLD", () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      if (!standstill.over) act();
    }, gatherMs);
  });
}
