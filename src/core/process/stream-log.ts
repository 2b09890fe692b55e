// One output stream in bounded memory: its head and its tail, addressed by absolute byte offsets. The tail is a ring and
// at the same time the buffer of live readers: a slow reader lags behind in it, and the writer waits before it overwrites
// a byte that a reader still needs (backpressure).

import type { LogState } from "../../upgrade/schema/commands.ts";
import type { Packing, Unpacking } from "../../upgrade/schema/fields.ts";
import { fewBytesMax, fewInto, fewOrView } from "../../util/few-bytes.ts";
import { outputLogMinBytes } from "../limits.ts";

/** Most commands print a line or nothing. */
const firstBytes = 256;

const nothing = new Uint8Array(0);

/** More than the length of any character. */
const seamBytes = 16;

/** Memory that a log has allocated (positive) or freed (negative). */
export type OnHeld = (bytes: number) => void;

export class StreamLog {
  #buffer = new Uint8Array(0);
  #total = 0;
  #keptBytesMax: number;
  #headMax: number;
  #capacity: number;
  /** The start of the tail at the last resize: earlier bytes are overwritten, whatever the capacity is now. */
  #overwrittenTo = 0;

  /** Restores the log of the program before an upgrade. */
  static from(state: LogState, given: Unpacking, onHeld?: OnHeld): StreamLog {
    const log = new StreamLog(state.keptBytesMax, onHeld);
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

  constructor(
    keptBytesMax: number,
    readonly onHeld?: OnHeld,
  ) {
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

  /** Whether bytes are omitted from the result. */
  get isTruncated(): boolean {
    return this.#total > this.keptBytesMax;
  }

  /** The number of bytes that fit without overwriting what a reader at `cursor` has not read yet. */
  spaceFor(cursor: number): number {
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

  /** Fills the remaining linear part, then overwrites the oldest bytes of the ring. */
  #pushBeyond(chunk: Uint8Array): void {
    const linear = chunk.subarray(0, Math.max(0, this.#capacity - this.#total));
    if (linear.length > 0) {
      this.#grow(this.#total + linear.length);
      this.#buffer.set(linear, this.#total);
    }
    this.#pushToRing(chunk.subarray(linear.length), this.#total + linear.length);
    this.#total += chunk.length;
  }

  /** The first offset at or after `offset` that is still available. */
  firstFrom(offset: number): number {
    if (offset < Math.min(this.#headMax, this.#total)) return offset;
    return Math.max(offset, this.#tailStart);
  }

  /** Whether all bytes from the offset to the end are available. */
  hasAllFrom(offset: number): boolean {
    return this.#tailStart <= this.#headMax || offset >= this.#tailStart;
  }

  /** As `firstFrom`, and with `onCharacters` at the start of a character if bytes before it are lost. */
  resumeFrom(offset: number, onCharacters: boolean): number {
    const first = this.firstFrom(offset);
    if (first === offset || !onCharacters) return first;
    return first + startOfFirstCharacter(this.#copy(first, Math.min(this.#total, first + seamBytes)));
  }

  /** Bytes from an available offset: a view if possible, valid until the next push. */
  read(offset: number, maxBytes: number): Uint8Array {
    const wanted = Math.min(maxBytes, this.contiguousEnd(offset) - offset);
    const view = this.#view(offset, wanted);
    // The wrap of the ring must not split a character.
    return view.length < Math.min(wanted, seamBytes)
      ? this.#copy(offset, offset + Math.min(wanted, seamBytes))
      : view;
  }

  /** The end of the available bytes from the offset on: the end of the head before a gap, otherwise the total. */
  contiguousEnd(offset: number): number {
    const isBeforeCut = offset < this.#headMax && this.#tailStart > this.#headMax;
    return isBeforeCut ? this.#headMax : this.#total;
  }

  /** Enlarges the ring for output that must not be lost and cannot wait: the last that a command printed. */
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
   * Lowers the capacity, to no less than `outputLogMinBytes`. False if it would drop bytes that a reader needs, from the
   * offset `neededFrom` on.
   */
  shrink(keptBytesMax: number, neededFrom: number): boolean {
    const capacity = Math.max(keptBytesMax, outputLogMinBytes);
    if (capacity >= this.#capacity) return capacity === this.#capacity;
    const kept = Math.min(this.#keptBytesMax, capacity);
    const headMax = headOf(kept);
    const isWhole = this.#total <= capacity;
    // The new tail may reach into the old head.
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

  /** The result: all of it, or head and tail of `keptBytesMax` together, without the middle. */
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

  /** Frees what was allocated for growth. */
  compact(): void {
    if (this.#total + firstBytes <= this.#buffer.length) this.#replace(this.#buffer.slice(0, this.#total));
  }

  get heldBytes(): number {
    return this.#buffer.length;
  }

  /** The size of the ring: how far the writer may be ahead of a reader. */
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

/** Half of the kept bytes; the rest of the capacity is the ring. */
const headOf = (keptBytesMax: number) => Math.ceil(Math.max(keptBytesMax, outputLogMinBytes) / 2);

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

/** The end of the last complete character. Up to three bytes of an incomplete one follow it; invalid bytes count as whole. */
export function endOfLastCharacter(bytes: Uint8Array): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isContinuation(bytes[start])) start--;
  const lead = bytes[start];
  if (lead === undefined) return bytes.length;
  return start + lengthOfCharacter(lead) > bytes.length ? start : bytes.length;
}

/** By its first byte; a byte that starts no character counts as one. */
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
