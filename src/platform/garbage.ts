// Bounds the memory of this process while output floods through it, and collects garbage when it is idle.

const garbageMaxBytes = 8 * 1024 * 1024;
const growthMaxBytes = 16 * 1024 * 1024;
let bytesSinceCollection = 0;
let residentMaxBytes = Number.POSITIVE_INFINITY;

/**
 * Counts bytes that have become garbage, and collects after every `garbageMaxBytes`: in a flood of chunks the engine's
 * own schedule lets memory grow. A concurrent collection costs almost nothing but finishes too late on a busy machine, so
 * the caller waits for a synchronous one once the resident size has grown all the same.
 */
export function collectGarbage(bytes: number): void {
  if (!isCollectionDue(bytes)) return;
  const resident = process.memoryUsage.rss();
  const isTooMuch = resident > residentMaxBytes;
  Bun.gc(isTooMuch);
  const now = isTooMuch ? process.memoryUsage.rss() : resident;
  residentMaxBytes = isTooMuch ? now + growthMaxBytes : Math.min(residentMaxBytes, now + growthMaxBytes);
}

/** The same without ever waiting: a synchronous collection takes 10 ms and more. */
export function noteGarbage(bytes: number): void {
  if (isCollectionDue(bytes)) Bun.gc(false);
}

/** Smaller buffers share a pool of the engine. */
const ownMemoryMinBytes = 4096;

/**
 * Frees the memory of a chunk that nothing refers to any more, so that the allocator reuses it for the next chunk while
 * it is in the processor's cache. Left to the collector, each chunk would be of new pages that the system has to clear.
 */
export function freeChunk(chunk: Uint8Array<ArrayBuffer>): void {
  const ownsMemory = chunk.length >= ownMemoryMinBytes && chunk.buffer.byteLength === chunk.length;
  if (ownsMemory) chunk.buffer.transfer(0);
  else collectGarbage(chunk.length);
}

function isCollectionDue(bytes: number): boolean {
  bytesSinceCollection += bytes;
  if (bytesSinceCollection < garbageMaxBytes) return false;
  bytesSinceCollection = 0;
  return true;
}

/** After this many units of work the garbage is worth more than a collection costs. */
const workMin = 100;

/**
 * Collects synchronously once the process is idle after work: the engine alone would hold some 30 KB for each command
 * for as long as nothing happens. It collects twice, because the first collection runs finalizers that release more.
 */
export class IdleCollector {
  #workBefore = 0;
  #workSinceCollection = 0;
  #collectionsLeft = 0;

  /** Called periodically with a counter of all work so far. */
  tick(work: number): void {
    const isBusy = work !== this.#workBefore;
    this.#workSinceCollection += work - this.#workBefore;
    this.#workBefore = work;
    if (isBusy) {
      if (this.#workSinceCollection >= workMin) this.#collectionsLeft = 2;
      return;
    }
    if (this.#collectionsLeft === 0) return;
    this.#collectionsLeft--;
    this.#workSinceCollection = 0;
    Bun.gc(true);
  }
}
