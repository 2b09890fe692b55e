// The parcel that crosses from one program to the next: a file in memory with bytes, and behind them the document that
// refers to them. Nobody but the two can open it, and nothing of it is ever on a disk.
import { closeSync, fstatSync, readSync, writeSync } from "node:fs";
import * as v from "valibot";
import { Instant, steadyMs } from "../../core/lifetime/instant.ts";
import { createMemoryFile, keepAcrossExec } from "../../platform/linux/inheritance.ts";
import { Handover, handoverFormat } from "../schema/document.ts";
import type { Bytes, Packing, Unpacking } from "../schema/fields.ts";

/** Where the document begins, in front of all. */
const headerBytes = 8;
/** However the clock of a program was set that wrote the wall time alone. */
const gapMaxMs = 60_000;

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

  /** From here on all of it is open in the program that comes: the parcel itself, and what it refers to. */
  seal(document: Handover): { parcelFd: number; descriptors: number[] } {
    const header = Buffer.alloc(headerBytes);
    header.writeBigUInt64LE(BigInt(this.#end));
    this.bytes(Buffer.from(JSON.stringify(document)));
    writeSync(this.#fd, header, 0, headerBytes, 0);
    for (const fd of [...this.#descriptors, this.#fd]) keepAcrossExec(fd, true);
    return { parcelFd: this.#fd, descriptors: [...this.#descriptors] };
  }

  /** Nobody has come. */
  takeBack(): void {
    for (const fd of this.#descriptors) keepAcrossExec(fd, false);
    closeSync(this.#fd);
  }
}

/** For a document that is only to be looked at. */
export const trialPacking: Packing = {
  bytes: ({ length }) => ({ at: 0, length }),
  descriptor: (fd) => fd,
};

export interface Received {
  document: Handover;
  given: Unpacking;
}

/** Throws where it is not what this program understands. */
export function openStateFile(fd: number): Received {
  const read = ({ at, length }: Bytes) => {
    const piece = new Uint8Array(length);
    for (let done = 0; done < length; ) {
      const count = readSync(fd, piece, done, length - done, at + done);
      if (count === 0) throw new Error("the parcel is not whole");
      done += count;
    }
    return piece;
  };
  const at = Number(Buffer.from(read({ at: 0, length: headerBytes })).readBigUInt64LE());
  const document = checkDocument(Buffer.from(read({ at, length: fstatSync(fd).size - at })).toString());
  const { steadyMs: writtenMs } = new Instant(document.writtenAt, document.writtenSteadyMs);
  const gapMs = Math.min(Math.max(0, steadyMs() - writtenMs), gapMaxMs);
  return { document, given: { bytes: read, gapMs } };
}

export function checkDocument(text: string): Handover {
  const value: unknown = JSON.parse(text);
  const format = (value as { format?: unknown } | null)?.format;
  if (format !== handoverFormat)
    throw new Error(`it is handed over in format ${format}, and this program takes ${handoverFormat}`);
  const result = v.safeParse(Handover, value);
  if (result.success) return result.output;
  // The place, never the value: it may be a secret.
  const [issue] = result.issues;
  throw new Error(`what is handed over has something else at ${v.getDotPath(issue) ?? "its beginning"}`);
}
