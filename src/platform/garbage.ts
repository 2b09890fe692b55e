// Keeps the daemon small while output floods through it.

const garbageMaxBytes = 8 * 1024 * 1024;
const growthMaxBytes = 16 * 1024 * 1024;
let sinceCollection = 0;
let residentMax = Number.POSITIVE_INFINITY;

/**
 * Each chunk is garbage a moment later, which the engine is slow to notice in a flood; the daemon is to stay small.
 * A collection beside the work costs next to nothing, but on a busy machine it comes too late: where memory has
 * grown nevertheless, the work waits for one.
 */
export function collectGarbage(bytes: number): void {
  if (!isTimeToCollect(bytes)) return;
  const resident = process.memoryUsage.rss();
  const isTooMuch = resident > residentMax;
  Bun.gc(isTooMuch);
  const now = isTooMuch ? process.memoryUsage.rss() : resident;
  residentMax = isTooMuch ? now + growthMaxBytes : Math.min(residentMax, now + growthMaxBytes);
}

/** The same where nobody can wait: a collection that is waited for takes 10 ms and more. */
export function noteGarbage(bytes: number): void {
  if (isTimeToCollect(bytes)) Bun.gc(false);
}

/** Smaller ones come and go with everything else. */
const ownMemoryMinBytes = 4096;

/**
 * Nobody has the chunk any more. Its memory is free at once and the next chunk's, still warm: left to the engine,
 * megabytes of such chunks would lie around, and each new one would be of pages that the system has to clear.
 */
export function rollBack(chunk: Uint8Array<ArrayBuffer>): void {
  const isOwn = chunk.length >= ownMemoryMinBytes && chunk.buffer.byteLength === chunk.length;
  if (isOwn) chunk.buffer.transfer(0);
  else collectGarbage(chunk.length);
}

function isTimeToCollect(bytes: number): boolean {
  sinceCollection += bytes;
  if (sinceCollection < garbageMaxBytes) return false;
  sinceCollection = 0;
  return true;
}

/** So much work leaves more behind than a collection costs. */
const worthCollecting = 100;

/**
 * After work comes rest: whoever is idle has time for a collection that is waited for, and the engine by itself would
 * leave behind some 30 KB for each of the commands before, for as long as nothing happens. The second one finds what
 * the first has let go.
 */
export class RestCollections {
  #workBefore = 0;
  #workDone = 0;
  #left = 0;

  /** To be called now and then, with a count of all work that was ever done. */
  tend(work: number): void {
    const isBusy = work !== this.#workBefore;
    this.#workDone += work - this.#workBefore;
    this.#workBefore = work;
    if (isBusy) {
      this.#left = this.#workDone >= worthCollecting ? 2 : this.#left;
      return;
    }
    if (this.#left === 0) return;
    this.#left--;
    this.#workDone = 0;
    Bun.gc(true);
  }
}
