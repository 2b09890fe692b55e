// Writes bytes into frames, as JSON text or as base64.
import { escapeInto } from "./json-bytes.ts";

export interface ByteEncoder {
  /** Writes valid UTF-8 as the inside of a JSON string into `target` from `at`; returns where it ends. */
  escapeInto(target: Uint8Array, at: number, text: Uint8Array): number;
  /** Writes `bytes` as base64 into `target` from `at`; returns where it ends. */
  base64Into(target: Buffer, at: number, bytes: Uint8Array): number;
}

export const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4;

export function base64Into(target: Buffer, at: number, bytes: Uint8Array): number {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  return at + target.write(text, at, "latin1");
}

export const scalarEncoder: ByteEncoder = { escapeInto, base64Into };
