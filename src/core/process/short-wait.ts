// Waiting for what is about to come, in the middle of a turn: where something takes less time than a turn of the event
// loop does, to be told of it in the usual way would be most of what it takes. Nobody else is served meanwhile, so that
// it is for fractions of a millisecond, and not for what others may keep waiting.
import { awaitInput, yieldProcessor } from "./libc.ts";

export interface Patience {
  /** So long the processor is given to whoever wants it, and asked for again. */
  awakeMs: number;
  /** So long in all. */
  waitMs: number;
}

/** Whether it is there in time. `fd` becomes readable with it. */
export function awaitShortly(isThere: () => boolean, fd: number, { awakeMs, waitMs }: Patience): boolean {
  const began = performance.now();
  // It is about to be made, mostly by somebody who waits for our processor: there is nothing to look for before.
  while (giveWay()) {
    if (isThere()) return true;
    if (performance.now() - began >= awakeMs) break;
  }
  return awaitInput(fd, Math.max(0, waitMs - awakeMs));
}

/**
 * Whoever gets our processor is not to keep it. On a busy machine it is away for as long as others may run, a millisecond
 * and more, time after time; elsewhere that happens now and then, as when the engine compiles.
 */
const yieldMaxMs = 1;
const lateMax = 3;
const crowdedMs = 5000;
let lateInARow = 0;
let crowdedUntil = 0;

/**
 * Lets somebody else have the processor, if anybody waits for it: who is woken by us mostly waits for ours. False where
 * the machine is busy; then it is not given away.
 */
export function giveWay(): boolean {
  const began = performance.now();
  if (began < crowdedUntil) return false;
  yieldProcessor();
  lateInARow = performance.now() - began > yieldMaxMs ? lateInARow + 1 : 0;
  if (lateInARow >= lateMax) {
    lateInARow = 0;
    crowdedUntil = began + crowdedMs;
  }
  return true;
}
