// Input for a program, at the pace at which it reads.
import { TrlError } from "../protocol/errors.ts";

const chunkBytes = 64 * 1024;
const retryMs = 10;

/** Piece by piece, each in base64; a piece that there is no room for yet is tried again. */
export async function writeInput(
  bytes: Uint8Array,
  write: (base64: string) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const piece = bytes.subarray(at, at + chunkBytes);
    try {
      await write(Buffer.from(piece).toString("base64"));
      at += chunkBytes;
    } catch (error) {
      if (!(error instanceof TrlError) || error.code !== "REQUEST_TOO_LARGE") throw error;
      await Bun.sleep(retryMs); // it has not read what it has
    }
  }
}
