// A terminal's output, the last of it, addressed by absolute byte offsets.
import { freeChunk } from "../../platform/garbage.ts";
import type { Packing, Unpacking } from "../../upgrade/schema/fields.ts";
import type { RingState } from "../../upgrade/schema/terminals.ts";
import { fewBytesMax, fewInto, fewOrView } from "../../util/few-bytes.ts";
import { terminalRingMinBytes } from "../limits.ts";

const firstBytes = 4096;
/** Less is not worth the work, and more would take more than a millisecond to be there again. */
const packedMinBytes = 16 * 1024;
const packedMaxBytes = 1024 * 1024;

export class OutputRing {
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  #end = 0;
  /** Bytes before it are gone. */
  #start = 0;
  /** Stands for the buffer until that is used again. */
  #packed: Uint8Array | undefined;
  #lastTriedAt = 0;
  /** It may not grow; it asks again when it has had output up to there. */
  #refusedUntil: number | undefined;

  /** `mayGrow` is asked beyond what each ring may have. */
  constructor(
    readonly maxBytes: number,
    readonly mayGrow: (bytes: number) => boolean = () => true,
  ) {}

  /** As another program has left it. */
  static from(
    { start, bytes }: RingState,
    given: Unpacking,
    maxBytes: number,
    mayGrow?: OutputRing["mayGrow"],
  ): OutputRing {
    const ring = new OutputRing(maxBytes, mayGrow);
    ring.#start = ring.#end = start;
    const held = given.bytes(bytes);
    if (held.length === 0) return ring;
    // It was allowed to keep as much before.
    ring.#buffer = new Uint8Array(Math.min(maxBytes, Math.ceil(held.length / firstBytes) * firstBytes));
    ring.push(held);
    return ring;
  }

  /** To the program that comes. */
  handOver(packing: Packing): RingState {
    return { start: this.#start, bytes: packing.bytes(this.copy(this.#start)) };
  }

  get end(): number {
    return this.#end;
  }

  get start(): number {
    return this.#start;
  }

  get heldBytes(): number {
    return (this.#packed ?? this.#buffer).length;
  }

  /** What it keeps when it is full. */
  get capacity(): number {
    return this.#refusedUntil === undefined
      ? this.maxBytes
      : Math.max(this.#buffer.length, terminalRingMinBytes);
  }

  push(chunk: Uint8Array): void {
    if (this.#packed) this.#unpack();
    this.#grow(this.#end - this.#start + chunk.length);
    const size = this.#buffer.length;
    const room = size - (this.#end % size);
    if (chunk.length > room) this.#wrap(chunk);
    else if (chunk.length <= fewBytesMax) fewInto(this.#buffer, size - room, chunk);
    else this.#buffer.set(chunk, size - room);
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

  /** From an offset that is still there: mostly a view, valid until the next push; shorter where the memory wraps. */
  view(offset: number, maxBytes: number): Uint8Array {
    if (this.#packed) this.#unpack();
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

  /** Nothing is there any more; the count goes on. */
  clear(): void {
    this.#start = this.#end;
    this.#refusedUntil = undefined;
    this.#buffer = new Uint8Array(0);
    this.#packed = undefined;
  }

  /** Takes a fraction of the memory until it is used again. How many bytes of work that was. */
  pack(): number {
    const { length } = this.#buffer;
    const isWorthIt = length >= packedMinBytes && length <= packedMaxBytes && this.#end > this.#lastTriedAt;
    if (!isWorthIt) return 0;
    this.#lastTriedAt = this.#end;
    const packed = Bun.zstdCompressSync(this.#buffer, { level: 1 });
    if (packed.length <= length / 2) {
      this.#packed = packed;
      this.#replace(new Uint8Array(0));
    }
    return length;
  }

  #unpack(): void {
    this.#buffer = new Uint8Array(Bun.zstdDecompressSync(this.#packed!));
    this.#packed = undefined;
    this.#lastTriedAt = 0;
  }

  /** Gives back what was allocated for growth. */
  compact(): void {
    const held = Math.ceil((this.#end - this.#start) / firstBytes) * firstBytes;
    if (this.#packed || held >= this.#buffer.length * 0.9) return;
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

  /** Offsets map to places by the buffer's size, so that another one is filled anew. */
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
