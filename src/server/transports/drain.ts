// At shutdown, waits until clients have read their last replies, in bounded time (limits.ts).
import { drainMaxMs, drainStallMs } from "../limits.ts";

/** Resolves when nothing is left to send, when `writtenBytes` has stalled, or at the deadline. */
export async function untilDrained(isBusy: () => boolean, writtenBytes: () => number): Promise<void> {
  const deadline = performance.now() + drainMaxMs;
  let written = writtenBytes();
  let progressAt = performance.now();
  while (isBusy() && performance.now() < deadline) {
    await Bun.sleep(1);
    if (writtenBytes() !== written) {
      written = writtenBytes();
      progressAt = performance.now();
    } else if (performance.now() - progressAt > drainStallMs) return;
  }
}
