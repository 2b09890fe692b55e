// Work whose size a client chooses, such as a look at thousands of processes, in slices: other clients have their turns
// between two of them. A generator yields wherever it may be interrupted.

export type Steps<T> = Generator<void, T>;

/** A client's request waits no longer than this for such work, however much of it there is. */
const sliceMs = 5;
/** In so long a time, work that begins gets one slice in all; the rest of it waits in the queue. */
const windowMs = 2 * sliceMs;

let windowBegan = 0;
let usedMs = 0;
const queue: (() => boolean)[] = [];

/** The first slice runs at once: small work has ended when this returns, and its result is no promise. */
export function inSlices<T>(work: Steps<T>): T | Promise<T> {
  const now = performance.now();
  if (now - windowBegan >= windowMs) {
    windowBegan = now;
    usedMs = 0;
  }
  const first = runUntil(work, now + sliceMs - usedMs);
  usedMs += performance.now() - now;
  if (first.done) return first.value;
  return new Promise<T>((resolve, reject) => {
    enqueue(() => {
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

/** For work that is bounded otherwise, and whose result is needed now. */
export function atOnce<T>(work: Steps<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** At least one step, so that all work comes to its end. */
function runUntil<T>(work: Steps<T>, endMs: number): IteratorResult<void, T> {
  let step = work.next();
  while (!step.done && performance.now() < endMs) step = work.next();
  return step;
}

/** One slice in a turn of the event loop, whichever work it belongs to. */
function enqueue(slice: () => boolean): void {
  queue.push(slice);
  if (queue.length === 1) setImmediate(runNext);
}

function runNext(): void {
  const slice = queue[0]!;
  const isDone = slice();
  queue.shift();
  if (!isDone) queue.push(slice);
  if (queue.length > 0) setImmediate(runNext);
}
