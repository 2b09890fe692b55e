// One output stream in bounded memory: its beginning and its end, addressed by absolute byte offsets. The end is
// a ring, which is also the buffer that live readers read from: who is slow lags behind in it, and before a byte
// is overwritten that a reader still needs, the writer waits.

import type { LogState } from "../../upgrade/schema/commands.ts";
import type { Packing, Unpacking } from "../../upgrade/schema/fields.ts";
import { fewBytesMax, fewInto, fewOrView } from "../../util/few-bytes.ts";
import { outputLogMinBytes } from "../limits.ts";

/** Most commands print a line or nothing. */
const firstBytes = 256;

const nothing = new Uint8Array(0);

/** More than any character has. */
const seamBytes = 16;

export class StreamLog {
  #buffer = new Uint8Array(0);
  #total = 0;
  #keptBytesMax: number;
  #headMax: number;
  #capacity: number;
  /** Of memory that was taken or given back. */
  onHeld: ((bytes: number) => void) | undefined;
  /** Where the tail began when the ring was last made larger: what was overwritten before does not come back. */
  #overwrittenTo = 0;

  /** What another program has handed over goes on as it was there. */
  static from(state: LogState, given: Unpacking): StreamLog {
    const log = new StreamLog(state.keptBytesMax);
    const tail = given.bytes(state.tail);
    log.#capacity = state.capacity;
    log.#total = state.total;
    log.#overwrittenTo = state.tailStart;
    log.#buffer = new Uint8Array(Math.min(state.total, state.capacity));
    log.#buffer.set(given.bytes(state.head));
    log.#pushToRing(tail, state.tailStart);
    return log;
  }

  pack(packing: Packing): LogState {
    const tailStart = this.#tailStart;
    return {
      keptBytesMax: this.keptBytesMax,
      capacity: this.#capacity,
      total: this.#total,
      tailStart,
      head: packing.bytes(this.#buffer.subarray(0, Math.min(this.#headMax, this.#total))),
      tail: packing.bytes(this.#copy(tailStart, this.#total)),
    };
  }

  constructor(keptBytesMax: number) {
    this.#keptBytesMax = keptBytesMax;
    this.#capacity = Math.max(keptBytesMax, outputLogMinBytes);
    this.#headMax = headOf(keptBytesMax);
  }

  get keptBytesMax(): number {
    return this.#keptBytesMax;
  }

  get totalBytes(): number {
    return this.#total;
  }

  /** Whether some of it is not kept. */
  get isTruncated(): boolean {
    return this.#total > this.keptBytesMax;
  }

  /** How much can be taken without losing what a reader at `cursor` has not read yet. */
  roomFor(cursor: number): number {
    return Math.max(cursor, this.#headMax) + this.ringBytes - this.#total;
  }

  push(chunk: Uint8Array): void {
    const end = this.#total + chunk.length;
    if (end <= this.#capacity) {
      this.#grow(end);
      if (chunk.length <= fewBytesMax) fewInto(this.#buffer, this.#total, chunk);
      else this.#buffer.set(chunk, this.#total);
      this.#total = end;
    } else this.#pushBeyond(chunk);
  }

  /** What does not fit behind the rest goes over the oldest of the ring. */
  #pushBeyond(chunk: Uint8Array): void {
    const linear = chunk.subarray(0, Math.max(0, this.#capacity - this.#total));
    if (linear.length > 0) {
      this.#grow(this.#total + linear.length);
      this.#buffer.set(linear, this.#total);
    }
    this.#pushToRing(chunk.subarray(linear.length), this.#total + linear.length);
    this.#total += chunk.length;
  }

  /** The first offset at or after `offset` that is still there. */
  firstFrom(offset: number): number {
    if (offset < Math.min(this.#headMax, this.#total)) return offset;
    return Math.max(offset, this.#tailStart);
  }

  /** Whether nothing is missing from there to the end. */
  hasAllFrom(offset: number): boolean {
    return this.#tailStart <= this.#headMax || offset >= this.#tailStart;
  }

  /** The same, and where that is behind a cut, on the beginning of a character if so wished. */
  resumeFrom(offset: number, onCharacters: boolean): number {
    const first = this.firstFrom(offset);
    if (first === offset || !onCharacters) return first;
    return first + startOfFirstCharacter(this.#copy(first, Math.min(this.#total, first + seamBytes)));
  }

  /** Bytes from an offset that is still there: a view where possible, valid until the next push. */
  read(offset: number, maxBytes: number): Uint8Array {
    const wanted = Math.min(maxBytes, this.contiguousEnd(offset) - offset);
    const view = this.#view(offset, wanted);
    // A character must not be cut where the memory wraps around.
    return view.length < Math.min(wanted, seamBytes)
      ? this.#copy(offset, offset + Math.min(wanted, seamBytes))
      : view;
  }

  /** Up to where nothing is missing: the end, or the beginning of the cut. */
  contiguousEnd(offset: number): number {
    const isBeforeCut = offset < this.#headMax && this.#tailStart > this.#headMax;
    return isBeforeCut ? this.#headMax : this.#total;
  }

  /** Makes room for what must not be lost and cannot wait: the last that a command printed. */
  expand(bytes: number): void {
    const tailStart = this.#tailStart;
    const tail = this.#copy(tailStart, this.#total);
    const grown = new Uint8Array(this.#capacity + bytes);
    grown.set(this.#buffer.subarray(0, Math.min(this.#headMax, this.#total)));
    this.#capacity = grown.length;
    this.#overwrittenTo = tailStart;
    this.#replace(grown);
    if (this.#total > this.#headMax) this.#pushToRing(tail, tailStart);
  }

  /**
   * Keeps no more than so much from now on, at least `outputLogMinBytes`. False where a reader still needs what would
   * be dropped, from that offset on.
   */
  shrink(keptBytesMax: number, neededFrom: number): boolean {
    const capacity = Math.max(keptBytesMax, outputLogMinBytes);
    if (capacity >= this.#capacity) return capacity === this.#capacity;
    const kept = Math.min(this.#keptBytesMax, capacity);
    const headMax = headOf(kept);
    const isWhole = this.#total <= capacity;
    // What is behind the new head may still be in the old one.
    const oldest = this.#tailStart > this.#headMax ? this.#tailStart : 0;
    const tailStart = Math.max(oldest, this.#total - (capacity - headMax));
    if (!isWhole && neededFrom < tailStart) return false;
    const shrunk = new Uint8Array(isWhole ? this.#total : capacity);
    const tail = isWhole ? nothing : this.#copy(tailStart, this.#total);
    shrunk.set(this.#copy(0, isWhole ? this.#total : headMax));
    this.#keptBytesMax = kept;
    this.#capacity = capacity;
    this.#headMax = headMax;
    this.#replace(shrunk);
    this.#overwrittenTo = isWhole ? oldest : tailStart;
    if (isWhole) return true;
    this.#pushToRing(tail, tailStart);
    return true;
  }

  #view(offset: number, maxBytes: number): Uint8Array {
    const end = Math.min(this.#total, offset + maxBytes);
    if (offset < this.#headMax) return this.#buffer.subarray(offset, Math.min(end, this.#headMax));
    const at = this.#headMax + ((offset - this.#headMax) % this.ringBytes);
    return this.#buffer.subarray(at, Math.min(at + end - offset, this.#buffer.length));
  }

  /** What is kept when all is over: all of it, or head and tail of `keptBytesMax` with the middle left out. */
  parts(onCharacters: boolean): { head: Uint8Array; tail: Uint8Array; omittedBytes: number } {
    if (!this.isTruncated) return { head: this.#copy(0, this.#total), tail: nothing, omittedBytes: 0 };
    const headBytes = Math.ceil(this.keptBytesMax / 2);
    let head = this.#copy(0, headBytes);
    let tail = this.#copy(this.#total - (this.keptBytesMax - headBytes), this.#total);
    if (onCharacters) {
      head = head.subarray(0, endOfLastCharacter(head));
      tail = tail.subarray(startOfFirstCharacter(tail));
    }
    return { head, tail, omittedBytes: this.#total - head.length - tail.length };
  }

  /** Gives back what was allocated for growth. */
  compact(): void {
    if (this.#total + firstBytes <= this.#buffer.length) this.#replace(this.#buffer.slice(0, this.#total));
  }

  get heldBytes(): number {
    return this.#buffer.length;
  }

  /** How far the writer may be ahead of a reader. */
  get ringBytes(): number {
    return this.#capacity - this.#headMax;
  }

  get #tailStart(): number {
    const ringStart = Math.max(this.#overwrittenTo, this.#total - this.ringBytes);
    return Math.max(Math.min(this.#headMax, this.#total), ringStart);
  }

  #copy(from: number, to: number): Uint8Array {
    if (to <= this.#headMax && to - from <= fewBytesMax) return fewOrView(this.#buffer, from, to);
    const copy = new Uint8Array(to - from);
    for (let at = from; at < to; ) {
      const piece = this.#view(at, to - at);
      copy.set(piece, at - from);
      at += piece.length;
    }
    return copy;
  }

  #grow(needed: number): void {
    if (needed <= this.#buffer.length) return;
    const grown = new Uint8Array(
      Math.min(this.#capacity, Math.max(needed, this.#buffer.length * 2, firstBytes)),
    );
    grown.set(this.#buffer.subarray(0, this.#total));
    this.#replace(grown);
  }

  #replace(buffer: Uint8Array<ArrayBuffer>): void {
    const bytes = buffer.length - this.#buffer.length;
    this.#buffer = buffer;
    this.onHeld?.(bytes);
  }

  #pushToRing(chunk: Uint8Array, offset: number): void {
    if (chunk.length === 0) return;
    const ring = this.#buffer.subarray(this.#headMax);
    const kept = chunk.subarray(Math.max(0, chunk.length - ring.length));
    const at = (offset + chunk.length - kept.length - this.#headMax) % ring.length;
    const untilWrap = kept.subarray(0, ring.length - at);
    ring.set(untilWrap, at);
    ring.set(kept.subarray(untilWrap.length), 0);
  }
}

/** Half of what is kept; the rest, and what the ring has besides, is for the end. */
const headOf = (keptBytesMax: number) => Math.ceil(Math.max(keptBytesMax, outputLogMinBytes) / 2);

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

/** Where the last whole character ends; at most three bytes of a cut one lie behind it, other rubbish stays. */
export function endOfLastCharacter(bytes: Uint8Array): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isContinuation(bytes[start])) start--;
  const lead = bytes[start];
  if (lead === undefined) return bytes.length;
  return start + lengthOfCharacter(lead) > bytes.length ? start : bytes.length;
}

/** By its first byte; one that can begin no character stands for itself. */
function lengthOfCharacter(lead: number): number {
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 1;
}

function startOfFirstCharacter(bytes: Uint8Array): number {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start++;
  return start;
}
