// Output as frames, written into one piece of memory that is used again and again.
import { isUtf8 } from "node:buffer";
import type { OutputPiece } from "../core/command/output.ts";
import { endOfLastCharacter } from "../core/process/stream-log.ts";
import type { Encoding } from "../protocol/exec.ts";
import { encodeFrame } from "../protocol/frame.ts";
import type { ByteEncoder } from "../util/byte-encoder.ts";
import { escapedBytesMax } from "../util/json-bytes.ts";
import { frameBytesMax } from "./limits.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const envelopeBytesMax = 256;
const scratch = Buffer.allocUnsafe(frameBytesMax * escapedBytesMax + envelopeBytesMax);

export interface OutputFrame {
  /** Valid until the next frame is made. */
  frame: Uint8Array;
  /** How many bytes of the stream it carries. */
  bytes: number;
}

/** None where a character is not whole yet. */
export function outputFrame(
  streamId: string,
  piece: OutputPiece,
  { encoding, encoder }: { encoding: Encoding; encoder: ByteEncoder },
  tellsEnd = false,
): OutputFrame | undefined {
  const { stream, offset, isLast } = piece;
  const bytes =
    encoding === "base64" || isLast ? piece.bytes : piece.bytes.subarray(0, endOfLastCharacter(piece.bytes));
  if (bytes.length === 0) return undefined;
  let end = scratch.write(`{"stream_id":"${streamId}","type":"${stream}","data":"`, 0, "latin1");
  const isExact = encoding === "base64" || isUtf8(bytes);
  if (encoding === "base64") end = encoder.base64Into(scratch, end, bytes);
  else end = encoder.escapeInto(scratch, end, isExact ? bytes : Buffer.from(decoder.decode(bytes)));
  // Where characters stand for bytes that are none, the frame says how many bytes it stands for.
  const count = isExact ? "" : `,"bytes":${bytes.length}`;
  const behind = tellsEnd ? `,"end":${offset + bytes.length}` : "";
  end += scratch.write(`","offset":${offset}${count}${behind}}\n`, end, "latin1");
  return { frame: scratch.subarray(0, end), bytes: bytes.length };
}

export function gapFrame(streamId: string, { stream, offset, missingFrom }: OutputPiece): Uint8Array {
  return encodeFrame({ stream_id: streamId, type: "gap", stream, from: missingFrom, to: offset });
}
