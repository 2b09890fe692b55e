// Our standard input to the command's, at the pace at which the command reads it.
import { TrlError } from "../protocol/errors.ts";
import type { DaemonClient } from "./client.ts";
import { writeInput } from "./write-input.ts";

/** Until either side ends; the command may well end without having read it all. Rejects where the connection is lost. */
export async function forwardStdin(client: DaemonClient, streamId: string): Promise<void> {
  const write = (data: string) =>
    client.call("exec.write", { stream_id: streamId, data, encoding: "base64" });
  try {
    for await (const piece of Bun.stdin.stream()) await writeInput(piece, write);
    await client.call("exec.write", { stream_id: streamId, eof: true });
  } catch (error) {
    if (!(error instanceof TrlError)) throw error;
    // the command has ended, or does not want more
  }
}
