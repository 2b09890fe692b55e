import { TrlError } from "../protocol/errors.ts";
import type { Encoding } from "../protocol/exec.ts";
import { fewOfBase64, fewOfText } from "../util/few-bytes.ts";

const isBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** The bytes of a `data` field. */
export function decodeData(data: string, encoding: Encoding): Uint8Array {
  const few = encoding === "base64" ? fewOfBase64(data) : fewOfText(data);
  if (few) return few;
  if (encoding === "base64" && !isBase64.test(data))
    throw new TrlError("INVALID_PARAMS", "data: expected base64");
  return Buffer.from(data, encoding);
}
