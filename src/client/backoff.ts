// Delays between retries: doubling up to a maximum, with jitter, until a deadline. Used for reconnecting, here and in
// src/remote, and for input that the daemon has no capacity for yet.
import { deferred } from "../util/deferred.ts";

export interface RetryDelays {
  firstMs: number;
  maxMs: number;
}

export interface BackoffOptions extends RetryDelays {
  /** Time for all attempts together; unlimited by default. */
  timeoutMs?: number;
}

/** Delay before retry number `attempt`, which counts from 0, without jitter. */
export const retryDelayMs = ({ firstMs, maxMs }: RetryDelays, attempt: number): number =>
  Math.min(firstMs * 2 ** attempt, maxMs);

export class Backoff {
  readonly #delays: RetryDelays;
  readonly #deadline: number;
  #attempt = 0;

  constructor({ timeoutMs = Number.POSITIVE_INFINITY, ...delays }: BackoffOptions) {
    this.#delays = delays;
    this.#deadline = performance.now() + timeoutMs;
  }

  /** Time until the deadline; negative after it. */
  get leftMs(): number {
    return this.#deadline - performance.now();
  }

  /** The next delay would end after the deadline. */
  get isExhausted(): boolean {
    return retryDelayMs(this.#delays, this.#attempt) > this.leftMs;
  }

  /** Waits before the next attempt. Rejects as soon as `cancelled` does. */
  async wait(cancelled?: Promise<never>): Promise<void> {
    const delayMs = retryDelayMs(this.#delays, this.#attempt++);
    const { promise, resolve } = deferred<void>();
    const timer = setTimeout(() => resolve(), withJitter(delayMs));
    await Promise.race(cancelled ? [promise, cancelled] : [promise]).finally(() => clearTimeout(timer));
  }
}

/** Clients that lost the same daemon at the same time do not retry at the same time. */
const withJitter = (ms: number): number => ms * (0.75 + Math.random() / 2);
