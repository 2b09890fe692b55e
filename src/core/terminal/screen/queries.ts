// The queue of queries about one screen. A query waits until the output before it is read, then the screen process
// answers it; one query at a time is in flight.
import { endOfLastCharacter } from "../../process/stream-log.ts";
import type { OutputRing } from "../ring.ts";
import type { PendingQuery, Query, QueryResult, Result } from "./work.ts";

/** The beginning of a longer sequence, such as an image, is not searched for. */
const sequenceBytesMax = 4096;

/** The offset at which a client's terminal continues after a redraw: not inside of a sequence or character. */
interface Boundary {
  /** If the emulator is between two sequences. */
  between: number;
  /** If it has read a part of a sequence. */
  within: number;
}

export function boundaryAt(ring: OutputRing, end: number): Boundary {
  const tail = ring.copy(Math.max(ring.start, end - sequenceBytesMax), end);
  const lastEscape = tail.lastIndexOf(0x1b);
  const between = end - (tail.length - endOfLastCharacter(tail));
  return { between, within: lastEscape === -1 ? end : end - tail.length + lastEscape };
}

export class Queries {
  readonly #waiting: PendingQuery[] = [];
  #inFlight: (PendingQuery & { boundary: Boundary }) | undefined;

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Output before this offset has to be read for the waiting queries. */
  get target(): number {
    return Math.max(0, ...this.#waiting.map(({ target }) => target));
  }

  /** Equal queries that wait share one answer. */
  add(query: Query, target: number): Promise<QueryResult<Query>> {
    const key = JSON.stringify(query);
    let pending = this.#waiting.find((other) => other.key === key);
    if (!pending) {
      pending = { ...Promise.withResolvers<QueryResult<Query>>(), query, key, target };
      this.#waiting.push(pending);
    }
    pending.target = target;
    return pending.promise;
  }

  /** Takes the first query if all output before it is read. */
  take(readTo: number, boundary: () => Boundary): Query | undefined {
    const [first] = this.#waiting;
    if (!first || readTo < first.target) return undefined;
    this.#waiting.shift();
    this.#inFlight = { ...first, boundary: boundary() };
    return first.query;
  }

  settle({ answer, refusal, isBetweenSequences }: Result): void {
    const query = this.#inFlight;
    this.#inFlight = undefined;
    if (!query) return;
    if (refusal) {
      query.promise.catch(() => {}); // no unhandled rejection if the client has disconnected
      query.reject(new Error(refusal.message));
      return;
    }
    const { between, within } = query.boundary;
    query.resolve({ answer: answer as never, offset: isBetweenSequences ? between : within });
  }

  /** The process crashed before it answered: the query is retried. */
  putBack(): void {
    if (this.#inFlight) this.#waiting.unshift(this.#inFlight);
    this.#inFlight = undefined;
  }

  rejectAll(error: Error): void {
    this.putBack();
    for (const { promise, reject } of this.#waiting.splice(0)) {
      promise.catch(() => {});
      reject(error);
    }
  }
}
