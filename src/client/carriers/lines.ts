// Splits bytes into frames, for carriers that are streams of lines.
import { LineDecoder } from "../../protocol/frame.ts";

/** A reply may hold two streams of output, each escaped; the daemon limits their size. */
const replyMaxBytes = 2 ** 31;

export function lineReader(onLine: (line: string) => void): (chunk: Uint8Array) => void {
  const lines = new LineDecoder(replyMaxBytes);
  const decoder = new TextDecoder();
  return (chunk) => {
    for (const line of lines.push(chunk)) if (line.kind === "line") onLine(decoder.decode(line.bytes));
  };
}
