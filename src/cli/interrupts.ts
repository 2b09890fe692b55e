// Handles SIGINT, SIGTERM and SIGHUP from the start of `trl run`, also before there is a command to cancel.
import { constants } from "node:os";

/** The daemon ends a command within two seconds. This limit is for a daemon that hangs. */
const endingMs = 5000;
/** Without a listener: there is no command to wait for. */
const startingMs = 1000;

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Only the first ^C is gentle: it interrupts the command, any further signal stops it. */
type InterruptListener = (isGentle: boolean) => void;

export class Interrupts implements Disposable {
  /** The latest signal, if there was one. */
  last: { isGentle: boolean } | undefined;
  readonly #listeners = new Set<InterruptListener>();
  #exit: ReturnType<typeof setTimeout> | undefined;
  readonly #handlers = signals.map((signal) => ({ signal, handle: () => this.#received(signal) }));

  constructor() {
    for (const { signal, handle } of this.#handlers) process.on(signal, handle);
  }

  /** While there is a listener, a gentle interrupt does not end this process. */
  listen(listener: InterruptListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#exit);
    for (const { signal, handle } of this.#handlers) process.off(signal, handle);
  }

  #received(signal: (typeof signals)[number]): void {
    const isGentle = signal === "SIGINT" && this.last === undefined;
    this.last = { isGentle };
    for (const listener of this.#listeners) listener(isGentle);
    const hasListener = this.#listeners.size > 0;
    if (isGentle && hasListener) return;
    const exit = () => process.exit(128 + constants.signals[signal]);
    this.#exit ??= setTimeout(exit, hasListener ? endingMs : startingMs);
  }
}
