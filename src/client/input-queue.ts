// Sends input in order, one request at a time, with retries while the daemon's buffer is full. Input that arrives
// during a request is sent together in the next one.
import { toBase64 } from "../util/base64.ts";
import { Backoff } from "./backoff.ts";
import { isTrlError } from "./errors.ts";

const pieceBytes = 64 * 1024;
const retryDelays = { firstMs: 5, maxMs: 200 };

interface Piece {
  bytes: Uint8Array;
  resolve(): void;
  reject(error: Error): void;
}

export class InputQueue {
  #waiting: Piece[] = [];
  #isSending = false;

  /** `send` takes base64, and rejects with REQUEST_TOO_LARGE while the daemon's buffer is full. */
  constructor(readonly send: (data: string) => Promise<unknown>) {}

  /** Resolves when the daemon has all of it. */
  push(data: string | Uint8Array): Promise<void> {
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ bytes, resolve, reject });
      if (!this.#isSending) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#isSending = true;
    while (this.#waiting.length > 0) {
      const pieces = this.#waiting.splice(0);
      try {
        await this.#sendAll(joined(pieces));
        for (const { resolve } of pieces) resolve();
      } catch (error) {
        for (const { reject } of pieces) reject(error as Error);
      }
    }
    this.#isSending = false;
  }

  async #sendAll(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at === 0 || at < bytes.length; at += pieceBytes) {
      await this.#sendPiece(toBase64(bytes.subarray(at, at + pieceBytes)));
    }
  }

  async #sendPiece(data: string): Promise<void> {
    const backoff = new Backoff(retryDelays);
    for (;;) {
      try {
        await this.send(data);
        return;
      } catch (error) {
        if (!isTrlError(error, "REQUEST_TOO_LARGE")) throw error;
      }
      await backoff.wait(); // the program has not read its input yet
    }
  }
}

function joined(pieces: Piece[]): Uint8Array {
  if (pieces.length === 1) return pieces[0]!.bytes;
  const all = new Uint8Array(pieces.reduce((sum, { bytes }) => sum + bytes.length, 0));
  let at = 0;
  for (const { bytes } of pieces) {
    all.set(bytes, at);
    at += bytes.length;
  }
  return all;
}
