// ^C, SIGTERM and SIGHUP from the first moment on, whatever we are doing just then.

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export class Interrupts implements Disposable {
  /** The last one, if there was any. */
  last: { isGentle: boolean } | undefined;
  /** What is to be done about one; the first ^C is only an interrupt. */
  onInterrupt: (isGentle: boolean) => void = () => {};
  readonly #handlers = signals.map((signal) => ({ signal, handle: () => this.#take(signal === "SIGINT") }));

  constructor() {
    for (const { signal, handle } of this.#handlers) process.on(signal, handle);
  }

  [Symbol.dispose](): void {
    for (const { signal, handle } of this.#handlers) process.off(signal, handle);
  }

  #take(isInterrupt: boolean): void {
    this.last = { isGentle: isInterrupt && this.last === undefined };
    this.onInterrupt(this.last.isGentle);
  }
}
