// The simd accelerator for frames: JSON escaping and base64 by vector instructions.
import { type ByteEncoder, scalarEncoder } from "../../util/byte-encoder.ts";
import { wideBase64 } from "./wide-base64.ts";
import { wideEscape } from "./wide-escape.ts";

/** Assembles each function at its first use: most daemons never send a long frame. */
export class WideEncoder implements ByteEncoder {
  #escape: ByteEncoder["escapeInto"] | undefined;
  #base64: ByteEncoder["base64Into"] | undefined;

  escapeInto(target: Uint8Array, at: number, text: Uint8Array): number {
    this.#escape ??= wideEscape() ?? scalarEncoder.escapeInto;
    return this.#escape(target, at, text);
  }

  base64Into(target: Buffer, at: number, bytes: Uint8Array): number {
    this.#base64 ??= wideBase64() ?? scalarEncoder.base64Into;
    return this.#base64(target, at, bytes);
  }
}
