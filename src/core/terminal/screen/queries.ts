// What is asked about one screen: those that wait for output to be read, and the one that the screen process answers.
import type { Boundary } from "./boundary.ts";
import type { Asked, PendingQuery, Query, Result } from "./work.ts";

export class Queries {
  readonly #waiting: PendingQuery[] = [];
  #asked: (PendingQuery & { boundary: Boundary }) | undefined;

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Everything before this offset has to be read for them. */
  get target(): number {
    return Math.max(0, ...this.#waiting.map(({ target }) => target));
  }

  /** The same question that still waits is asked once. */
  add(query: Query, target: number): Promise<Asked<Query>> {
    const key = JSON.stringify(query);
    let pending = this.#waiting.find((other) => other.key === key);
    if (!pending) {
      pending = { ...Promise.withResolvers<Asked<Query>>(), query, key, target };
      this.#waiting.push(pending);
    }
    pending.target = target;
    return pending.promise;
  }

  /** The first, where everything before it is read. */
  take(readTo: number, boundary: () => Boundary): Query | undefined {
    const [first] = this.#waiting;
    if (!first || readTo < first.target) return undefined;
    this.#waiting.shift();
    this.#asked = { ...first, boundary: boundary() };
    return first.query;
  }

  answer({ answer, refusal, isBetweenSequences }: Result): void {
    const asked = this.#asked;
    this.#asked = undefined;
    if (!asked) return;
    if (refusal) {
      asked.promise.catch(() => {}); // the caller may be gone
      asked.reject(new Error(refusal.message));
      return;
    }
    const { between, within } = asked.boundary;
    asked.resolve({ answer: answer as never, offset: isBetweenSequences ? between : within });
  }

  /** The process has ended before its answer. */
  putBack(): void {
    if (this.#asked) this.#waiting.unshift(this.#asked);
    this.#asked = undefined;
  }

  rejectAll(error: Error): void {
    this.putBack();
    for (const { promise, reject } of this.#waiting.splice(0)) {
      promise.catch(() => {}); // the caller may be gone
      reject(error);
    }
  }
}
