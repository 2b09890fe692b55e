// The simd accelerator for frames: JSON escaping and base64 by vector instructions.
import { type ByteEncoder, scalarEncoder } from "../../util/byte-encoder.ts";
import { wideBase64 } from "./wide-base64.ts";
import { wideEscape } from "./wide-escape.ts";

/** From this length on the vector code is faster. Shorter frames do not assemble it: most daemons never send a longer one. */
const wideBytesMin = 512;

/** Assembles each function at its first use. */
export class WideEncoder implements ByteEncoder {
  #escape: ByteEncoder["escapeInto"] | undefined;
  #base64: ByteEncoder["base64Into"] | undefined;

  escapeInto(target: Uint8Array, at: number, text: Uint8Array): number {
    if (text.length < wideBytesMin) return scalarEncoder.escapeInto(target, at, text);
    this.#escape ??= wideEscape() ?? scalarEncoder.escapeInto;
    return this.#escape(target, at, text);
  }

  base64Into(target: Buffer, at: number, bytes: Uint8Array): number {
    if (bytes.length < wideBytesMin) return scalarEncoder.base64Into(target, at, bytes);
    this.#base64 ??= wideBase64() ?? scalarEncoder.base64Into;
    return this.#base64(target, at, bytes);
  }
}
