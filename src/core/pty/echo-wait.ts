// Who types waits for the echo: until something is printed, or for a moment.
import { echoMs } from "../limits.ts";
import { giveWay } from "../process/short-wait.ts";

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

  /** What was printed is on its way to whoever watches. */
  printed(): void {
    if (this.#waiting.length === 0) return;
    // Who was just woken by it mostly waits for our processor, and would wait until the reply is made, too.
    giveWay();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
