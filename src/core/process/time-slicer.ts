// Runs work of a size that a client chooses, such as a scan of thousands of processes, in time slices, so that the daemon
// serves other clients in between. The work is a generator that yields at each point where it may be interrupted.

export type Steps<T> = Generator<void, T>;

/** The longest that a client's request waits for such work, however much of it there is. */
const sliceMs = 5;
/** All work that starts within one window shares one slice; the rest of it is queued. */
const windowMs = 2 * sliceMs;

/** One queue and one budget for all work of a daemon. */
export class TimeSlicer {
  #windowStartMs = 0;
  #usedMs = 0;
  readonly #queue: (() => boolean)[] = [];

  /** The first slice runs synchronously: the result of small work is not a promise. */
  run<T>(work: Steps<T>): T | Promise<T> {
    const now = performance.now();
    if (now - this.#windowStartMs >= windowMs) {
      this.#windowStartMs = now;
      this.#usedMs = 0;
    }
    const first = runUntil(work, now + sliceMs - this.#usedMs);
    this.#usedMs += performance.now() - now;
    if (first.done) return first.value;
    return new Promise<T>((resolve, reject) => {
      this.#enqueue(() => {
        try {
          const next = runUntil(work, performance.now() + sliceMs);
          if (next.done) resolve(next.value);
          return next.done === true;
        } catch (error) {
          reject(error);
          return true;
        }
      });
    });
  }

  /** One slice per turn of the event loop, round robin. */
  #enqueue(slice: () => boolean): void {
    this.#queue.push(slice);
    if (this.#queue.length === 1) setImmediate(() => this.#runNext());
  }

  #runNext(): void {
    const slice = this.#queue[0]!;
    const isDone = slice();
    this.#queue.shift();
    if (!isDone) this.#queue.push(slice);
    if (this.#queue.length > 0) setImmediate(() => this.#runNext());
  }
}

/** For work that is otherwise bounded, if its result is needed synchronously. */
export function runToEnd<T>(work: Steps<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Runs at least one step, so that all work makes progress. */
function runUntil<T>(work: Steps<T>, endMs: number): IteratorResult<void, T> {
  let step = work.next();
  while (!step.done && performance.now() < endMs) step = work.next();
  return step;
}
