// The simd accelerator for frames: JSON escaping by vector instructions. Base64 and a scan for plain text gained nothing.
import { type ByteEncoder, base64Into, scalarEncoder } from "../../util/byte-encoder.ts";
import { wideEscape } from "./wide-escape.ts";

/** From this length on the vector code is faster. Shorter frames do not assemble it: most daemons never send a longer one. */
const wideBytesMin = 512;

export class WideEncoder implements ByteEncoder {
  /** Assembled at the first use. */
  #escape: ByteEncoder["escapeInto"] | undefined;
  readonly base64Into = base64Into;

  escapeInto(target: Uint8Array, at: number, text: Uint8Array): number {
    if (text.length < wideBytesMin) return scalarEncoder.escapeInto(target, at, text);
    this.#escape ??= wideEscape() ?? scalarEncoder.escapeInto;
    return this.#escape(target, at, text);
  }
}
