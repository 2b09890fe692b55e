// Who types waits for the echo: until something is printed, or for a moment.
import { echoMs } from "../limits.ts";

export class EchoWait {
  readonly #waiting: (() => void)[] = [];
  #timer: Timer | undefined;

  /** Resolves when something is printed, or in a moment. */
  printedOrLate(): Promise<void> {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.printed();
    }, echoMs);
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  printed(): void {
    if (this.#waiting.length > 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
