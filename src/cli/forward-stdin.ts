// Our standard input to the command's, at the pace at which the command reads it.
import type { TrlClient } from "../client/client.ts";
import { TrlError } from "../protocol/errors.ts";

const chunkBytes = 64 * 1024;
const retryMs = 10;

/** Until either side ends; the command may well end without having read it all. */
export async function forwardStdin(client: TrlClient, streamId: string): Promise<void> {
  try {
    for await (const piece of Bun.stdin.stream()) {
      for (let at = 0; at < piece.length; at += chunkBytes) {
        await write(client, streamId, piece.subarray(at, at + chunkBytes));
      }
    }
    await client.call("exec.write", { stream_id: streamId, eof: true });
  } catch {
    // the command has ended, or does not want more
  }
}

async function write(client: TrlClient, streamId: string, piece: Uint8Array): Promise<void> {
  for (;;) {
    try {
      await client.call("exec.write", {
        stream_id: streamId,
        data: Buffer.from(piece).toString("base64"),
        encoding: "base64",
      });
      return;
    } catch (error) {
      if (!(error instanceof TrlError) || error.code !== "REQUEST_TOO_LARGE") throw error;
      await Bun.sleep(retryMs); // it has not read what it has
    }
  }
}
