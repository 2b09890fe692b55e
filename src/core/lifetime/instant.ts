// The clock for ages, idle times and retention. The wall clock may be set by days at any moment, so it is only displayed.
// The steady clock runs on while the machine sleeps: after a night of sleep a session is a night older.
// `performance.now()` stops meanwhile, as a command's time limit should: the command could not run either.
import { readClock, steadyClock } from "../../platform/libc.ts";

/** Milliseconds since an origin that all programs share until the next boot. */
export const steadyMs = (): number => readClock(steadyClock)!;

/** A moment on both clocks: the wall clock to display it, the steady clock to count from it. */
export class Instant extends Date {
  readonly steadyMs: number;

  /** A state document of an older version has no steady time; then the wall clock decides. */
  constructor(wallMs = Date.now(), steady = steadyMs() - Math.max(0, Date.now() - wallMs)) {
    super(wallMs);
    this.steadyMs = steady;
  }
}
