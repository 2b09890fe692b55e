// Hears from the system that children have ended. Bun hears of those that it started by other means, and takes their
// wait status itself.
import { readGate } from "./read-gate.ts";

/** Signals that come together are answered once, and by then Bun has taken the status of its own. */
const gatherMs = 10;
/** Where there are thousands of children, the answer takes longer; the pause is so many times as long. */
const pauseFactor = 10;

export function whenChildrenEnd(act: () => void | Promise<void>): void {
  let isExpected = false;
  let pauseMs = gatherMs;
  const answer = async () => {
    isExpected = false;
    if (readGate.over) return;
    const began = performance.now();
    await act();
    pauseMs = Math.max(gatherMs, (performance.now() - began) * pauseFactor);
  };
  process.on("SIGCHLD", () => {
    if (isExpected) return;
    isExpected = true;
    setTimeout(answer, pauseMs);
  });
}
