// Links that open and are lost again at once: each attempt may look good, and all together lead nowhere.
import { delayMaxMs, firstDelayMs, stableMs } from "./limits.ts";

export class Backoff {
  #openedAt = 0;
  #lossesInARow = 0;
  #unstableSince: number | undefined;

  /** For how long no link has lasted. */
  get unstableMs(): number {
    return this.#unstableSince === undefined ? 0 : performance.now() - this.#unstableSince;
  }

  opened(): void {
    this.#openedAt = performance.now();
  }

  lost(): void {
    const now = performance.now();
    const wasStable = now - this.#openedAt >= stableMs;
    this.#lossesInARow = wasStable ? 1 : this.#lossesInARow + 1;
    this.#unstableSince = wasStable ? now : (this.#unstableSince ?? now);
  }

  /** The first loss is worth an attempt at once, the next ones less and less. */
  async pause(): Promise<void> {
    if (this.#lossesInARow > 1) await Bun.sleep(Math.min(firstDelayMs * 2 ** this.#lossesInARow, delayMaxMs));
  }
}
