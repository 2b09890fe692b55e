// Writes the state file: a memory file (memfd) with a header, the bytes of outputs and screens, and the state document,
// which refers to those bytes by offset. Only descriptors lead to it, and none of it ever reaches a disk.
import { closeSync, writeSync } from "node:fs";
import { createMemoryFile, keepAcrossExec } from "../../platform/linux/inheritance.ts";
import type { StateDocument } from "../schema/document.ts";
import type { Bytes, Packing } from "../schema/fields.ts";

/** The header is the offset of the document, as an unsigned 64-bit little-endian integer. */
export const headerBytes = 8;

export class StateFile implements Packing {
  readonly #fd = createMemoryFile("trl-handover");
  readonly #descriptors = new Set<number>();
  #end = headerBytes;

  bytes(piece: Uint8Array): Bytes {
    const at = this.#end;
    for (let done = 0; done < piece.length; )
      done += writeSync(this.#fd, piece, done, piece.length - done, at + done);
    this.#end += piece.length;
    return { at, length: piece.length };
  }

  descriptor(fd: number): number {
    this.#descriptors.add(fd);
    return fd;
  }

  /** Writes the document and the header, and lets the file and all registered descriptors survive exec. */
  seal(document: StateDocument): { parcelFd: number; descriptors: number[] } {
    const header = Buffer.alloc(headerBytes);
    header.writeBigUInt64LE(BigInt(this.#end));
    this.bytes(Buffer.from(JSON.stringify(document)));
    writeSync(this.#fd, header, 0, headerBytes, 0);
    for (const fd of [...this.#descriptors, this.#fd]) keepAcrossExec(fd, true);
    return { parcelFd: this.#fd, descriptors: [...this.#descriptors] };
  }

  /** After a failed exec: the descriptors are closed by the next exec again, and the file is freed. */
  discard(): void {
    for (const fd of this.#descriptors) keepAcrossExec(fd, false);
    closeSync(this.#fd);
  }
}

/** For a document that is checked but not restored: it stores no bytes and changes no descriptor. */
export const trialPacking: Packing = {
  bytes: ({ length }) => ({ at: 0, length }),
  descriptor: (fd) => fd,
};
