// At shutdown: clients that still read get the rest of what is for them, in bounded time; see limits.ts.
import { farewellMaxMs, farewellStallMs } from "../limits.ts";

/** Resolves when nothing is left to send, when `takenBytes` has not grown for a while, or when the time is over. */
export async function untilDrained(isBusy: () => boolean, takenBytes: () => number): Promise<void> {
  const deadline = performance.now() + farewellMaxMs;
  let taken = takenBytes();
  let movedAt = performance.now();
  while (isBusy() && performance.now() < deadline) {
    await Bun.sleep(1);
    if (takenBytes() !== taken) {
      taken = takenBytes();
      movedAt = performance.now();
    } else if (performance.now() - movedAt > farewellStallMs) return;
  }
}
