// Encodes a command's output as frames.
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

export interface StreamFrame {
  /** Valid until the next frame is encoded. */
  frame: Uint8Array;
  /** How many bytes of the stream it carries. */
  bytes: number;
}

export class StreamFrames {
  /** Reused by every frame: the outgoing queue copies what it has to keep. */
  readonly #buffer = Buffer.allocUnsafe(frameBytesMax * escapedBytesMax + envelopeBytesMax);

  constructor(readonly encoder: ByteEncoder) {}

  /** Undefined if the piece holds only a part of a character. `hasEnd` adds the offset behind the piece. */
  output(streamId: string, piece: OutputPiece, encoding: Encoding, hasEnd: boolean): StreamFrame | undefined {
    const buffer = this.#buffer;
    const { stream, offset, isLast } = piece;
    const bytes =
      encoding === "base64" || isLast
        ? piece.bytes
        : piece.bytes.subarray(0, endOfLastCharacter(piece.bytes));
    if (bytes.length === 0) return undefined;
    let end = buffer.write(`{"stream_id":"${streamId}","type":"${stream}","data":"`, 0, "latin1");
    const isExact = encoding === "base64" || isUtf8(bytes);
    if (encoding === "base64") end = this.encoder.base64Into(buffer, end, bytes);
    else end = this.encoder.escapeInto(buffer, end, isExact ? bytes : Buffer.from(decoder.decode(bytes)));
    // Replacement characters hide how many bytes the text stands for, so the frame says it.
    const count = isExact ? "" : `,"bytes":${bytes.length}`;
    const endField = hasEnd ? `,"end":${offset + bytes.length}` : "";
    end += buffer.write(`","offset":${offset}${count}${endField}}\n`, end, "latin1");
    return { frame: buffer.subarray(0, end), bytes: bytes.length };
  }
}

export function gapFrame(streamId: string, { stream, offset, missingFrom }: OutputPiece): Uint8Array {
  return encodeFrame({ stream_id: streamId, type: "gap", stream, from: missingFrom, to: offset });
}
