// ^C, SIGTERM and SIGHUP from the first moment on, whatever we are doing just then.
import { constants } from "node:os";

/** The daemon ends a command for certain within two; a daemon that hangs does not hold us. */
const endingMs = 5000;
/** There is no command yet. */
const startingMs = 1000;

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export class Interrupts implements Disposable {
  /** The last one, if there was any. */
  last: { isGentle: boolean } | undefined;
  /** What is to be done about one; the first ^C is only an interrupt. Undefined while there is nothing yet to stop. */
  onInterrupt: ((isGentle: boolean) => void) | undefined;
  #leaving: ReturnType<typeof setTimeout> | undefined;
  readonly #handlers = signals.map((signal) => ({ signal, handle: () => this.#take(signal) }));

  constructor() {
    for (const { signal, handle } of this.#handlers) process.on(signal, handle);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#leaving);
    for (const { signal, handle } of this.#handlers) process.off(signal, handle);
  }

  #take(signal: (typeof signals)[number]): void {
    const isGentle = signal === "SIGINT" && this.last === undefined;
    this.last = { isGentle };
    this.onInterrupt?.(isGentle);
    if (isGentle && this.onInterrupt) return;
    const leave = () => process.exit(128 + constants.signals[signal]);
    this.#leaving ??= setTimeout(leave, this.onInterrupt ? endingMs : startingMs);
  }
}
