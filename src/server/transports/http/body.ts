// Reads the body of a request, bounded in bytes and in time.
import { TrlError } from "../../../protocol/errors.ts";

export async function readBody(request: Request, maxBytes: number, maxMs: number): Promise<Uint8Array> {
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const reader = request.body?.getReader();
  if (!reader) return new Uint8Array(0);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void reader.cancel();
  }, maxMs);
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(brokenOff);
      if (isLate) throw new TrlError("INVALID_PARAMS", "the body took too long");
      if (done) return Buffer.concat(chunks);
      bytes += value.length;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      chunks.push(value);
    }
  } finally {
    clearTimeout(timer);
    if (bytes > maxBytes) void reader.cancel();
  }
}

const tooLarge = (maxBytes: number) =>
  new TrlError("REQUEST_TOO_LARGE", `the body is longer than ${maxBytes} bytes`);

function brokenOff(): never {
  throw new TrlError("INVALID_PARAMS", "the body broke off");
}
