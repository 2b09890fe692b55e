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
export function giveBack(chunk: Uint8Array<ArrayBuffer>): void {
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
