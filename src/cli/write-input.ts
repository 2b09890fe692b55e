// Sends input to a program in chunks, with retry while its input buffer is full.
import { TrlError } from "../protocol/errors.ts";

const chunkBytes = 64 * 1024;
const retryMs = 10;

/** `write` receives base64. REQUEST_TOO_LARGE means that the buffer is full: the chunk is retried. */
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
      await Bun.sleep(retryMs);
    }
  }
}
