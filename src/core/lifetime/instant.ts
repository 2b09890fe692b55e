// Time that ages, idle times and retention are counted by. The wall clock may be set by days at any moment, so it is
// only shown. CLOCK_BOOTTIME (Linux) and CLOCK_MONOTONIC_RAW (macOS) are set by nothing and go on while the machine
// sleeps: a session that was left for a night is a night old. `performance.now()` stands still in that time, which is
// right for what it is used for, time limits of commands: a command could not work while the machine slept.
import { readClock } from "../../platform/libc.ts";

const clock = process.platform === "linux" ? 7 /* CLOCK_BOOTTIME */ : 4; /* CLOCK_MONOTONIC_RAW */

/** Milliseconds since some moment that is the same for all programs until the machine is started anew. */
export const steadyMs = (): number => readClock(clock);

/** A moment as it is shown, by the wall clock, and as it is counted from. */
export class Instant extends Date {
  readonly steadyMs: number;

  /** Without the steady time, as in a document of a program that did not know it, the wall clock decides. */
  constructor(wallMs = Date.now(), steady = steadyMs() - Math.max(0, Date.now() - wallMs)) {
    super(wallMs);
    this.steadyMs = steady;
  }
}
