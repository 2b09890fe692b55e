// A ring buffer with the end of a terminal's output, addressed by absolute byte offsets. It grows with the output up to a
// limit, and can be compressed while the terminal is idle.

import { freeChunk } from "../../platform/garbage.ts";
import type { Packing, Unpacking } from "../../upgrade/schema/fields.ts";
import type { RingState } from "../../upgrade/schema/terminals.ts";
import { fewBytesMax, fewInto, fewOrView } from "../../util/few-bytes.ts";
import { terminalRingMinBytes } from "../limits.ts";

const firstBytes = 4096;
/** Less is not worth the work, and more takes longer than a millisecond to decompress. */
const compressMinBytes = 16 * 1024;
const compressMaxBytes = 1024 * 1024;

export class OutputRing {
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  #end = 0;
  /** Earlier bytes are overwritten. */
  #start = 0;
  /** Replaces `#buffer` until the next access. */
  #compressed: Uint8Array | undefined;
  #lastCompressAt = 0;
  /** `mayGrow` refused; it is called again when the output has reached this offset. */
  #refusedUntil: number | undefined;

  /** `mayGrow` decides about growth beyond `terminalRingMinBytes`. */
  constructor(
    readonly maxBytes: number,
    readonly mayGrow: (bytes: number) => boolean = () => true,
  ) {}

  /** Restores a ring after an upgrade. */
  static from(
    { start, bytes }: RingState,
    unpacking: Unpacking,
    maxBytes: number,
    mayGrow?: OutputRing["mayGrow"],
  ): OutputRing {
    const ring = new OutputRing(maxBytes, mayGrow);
    ring.#start = ring.#end = start;
    const held = unpacking.bytes(bytes);
    if (held.length === 0) return ring;
    // Allocated without `mayGrow`, which had allowed this size before the upgrade.
    ring.#buffer = new Uint8Array(Math.min(maxBytes, Math.ceil(held.length / firstBytes) * firstBytes));
    ring.push(held);
    return ring;
  }

  /** Saves the ring for an upgrade. */
  pack(packing: Packing): RingState {
    return { start: this.#start, bytes: packing.bytes(this.copy(this.#start)) };
  }

  get end(): number {
    return this.#end;
  }

  get start(): number {
    return this.#start;
  }

  get heldBytes(): number {
    return (this.#compressed ?? this.#buffer).length;
  }

  /** The size that the buffer can reach. */
  get capacity(): number {
    return this.#refusedUntil === undefined
      ? this.maxBytes
      : Math.max(this.#buffer.length, terminalRingMinBytes);
  }

  push(chunk: Uint8Array): void {
    if (this.#compressed) this.#decompress();
    this.#grow(this.#end - this.#start + chunk.length);
    const size = this.#buffer.length;
    const at = this.#end % size;
    if (chunk.length > size - at) this.#wrap(chunk);
    else if (chunk.length <= fewBytesMax) fewInto(this.#buffer, at, chunk);
    else this.#buffer.set(chunk, at);
    this.#end += chunk.length;
    this.#start = Math.max(this.#start, this.#end - size);
  }

  #wrap(chunk: Uint8Array): void {
    const size = this.#buffer.length;
    const kept = chunk.subarray(Math.max(0, chunk.length - size));
    const at = (this.#end + chunk.length - kept.length) % size;
    const untilWrap = kept.subarray(0, size - at);
    this.#buffer.set(untilWrap, at);
    this.#buffer.set(kept.subarray(untilWrap.length), 0);
  }

  /**
   * Output from an offset that is still in the ring. Mostly a view, valid until the next push; ends early where the
   * buffer wraps.
   */
  view(offset: number, maxBytes: number): Uint8Array {
    if (this.#compressed) this.#decompress();
    const size = this.#buffer.length;
    const at = offset % size;
    return fewOrView(this.#buffer, at, Math.min(at + Math.min(maxBytes, this.#end - offset), size));
  }

  copy(offset: number, until = this.#end): Uint8Array<ArrayBuffer> {
    const end = Math.min(until, this.#end);
    const copy = new Uint8Array(Math.max(0, end - offset));
    for (let at = offset; at < end; ) {
      const piece = this.view(at, end - at);
      copy.set(piece, at - offset);
      at += piece.length;
    }
    return copy;
  }

  /** Drops all bytes; offsets continue. */
  clear(): void {
    this.#start = this.#end;
    this.#refusedUntil = undefined;
    this.#buffer = new Uint8Array(0);
    this.#compressed = undefined;
  }

  /** Compresses the buffer until the next access. Returns how many bytes it has processed. */
  compress(): number {
    const { length } = this.#buffer;
    const isWorthIt =
      length >= compressMinBytes && length <= compressMaxBytes && this.#end > this.#lastCompressAt;
    if (!isWorthIt) return 0;
    this.#lastCompressAt = this.#end;
    const compressed = Bun.zstdCompressSync(this.#buffer, { level: 1 });
    if (compressed.length <= length / 2) {
      this.#compressed = compressed;
      this.#replace(new Uint8Array(0));
    }
    return length;
  }

  #decompress(): void {
    this.#buffer = new Uint8Array(Bun.zstdDecompressSync(this.#compressed!));
    this.#compressed = undefined;
    this.#lastCompressAt = 0;
  }

  /** Frees what was allocated for growth. */
  compact(): void {
    const held = Math.ceil((this.#end - this.#start) / firstBytes) * firstBytes;
    if (this.#compressed || held >= this.#buffer.length * 0.9) return;
    this.#refusedUntil = undefined;
    this.#moveTo(held);
  }

  #grow(needed: number): void {
    const size = this.#buffer.length;
    if (needed <= size || size === this.maxBytes || this.#end < (this.#refusedUntil ?? 0)) return;
    let larger = Math.max(size, firstBytes);
    while (larger < needed) larger *= 2;
    larger = Math.min(larger, this.maxBytes);
    const isRefused = larger > terminalRingMinBytes && !this.mayGrow(larger - size);
    this.#refusedUntil = isRefused ? this.#end + terminalRingMinBytes : undefined;
    if (isRefused) larger = Math.max(size, terminalRingMinBytes);
    if (larger > size) this.#moveTo(larger);
  }

  /** The position of an offset depends on the buffer's size, so the bytes are copied to their new positions. */
  #moveTo(size: number): void {
    const held = this.copy(this.#start);
    this.#replace(new Uint8Array(size));
    const at = this.#start % size;
    this.#buffer.set(held.subarray(0, size - at), at);
    this.#buffer.set(held.subarray(size - at), 0);
    freeChunk(held);
  }

  #replace(buffer: Uint8Array<ArrayBuffer>): void {
    const before = this.#buffer;
    this.#buffer = buffer;
    freeChunk(before);
  }
}
