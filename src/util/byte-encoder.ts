// Writes bytes into frames, as JSON text or as base64.
import { escapeInto } from "./json-bytes.ts";

export interface ByteEncoder {
  /** Writes valid UTF-8 as the inside of a JSON string into `target` from `at`; returns where it ends. */
  escapeInto(target: Uint8Array, at: number, text: Uint8Array): number;
  /** Writes `bytes` as base64 into `target` from `at`; returns where it ends. */
  base64Into(target: Buffer, at: number, bytes: Uint8Array): number;
}

export const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4;

/** A multiple of 3. Larger pieces make strings that the engine collects later, and a flood's memory grows twice as much. */
const pieceBytes = 3 * 1024;

export function base64Into(target: Buffer, at: number, bytes: Uint8Array): number {
  const from = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let end = at;
  for (let start = 0; start < from.length; start += pieceBytes)
    end += target.write(from.toString("base64", start, start + pieceBytes), end, "latin1");
  return end;
}

export const scalarEncoder: ByteEncoder = { escapeInto, base64Into };
