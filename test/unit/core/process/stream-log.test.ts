import { expect, test } from "bun:test";
import fc from "fast-check";
import { StreamLog } from "../../../../src/core/process/stream-log.ts";

function gather(maxBytes: number, chunks: Uint8Array[]): StreamLog {
  const output = new StreamLog(maxBytes);
  for (const chunk of chunks) output.push(chunk);
  return output;
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 });
const maxBytes = fc.integer({ min: 0, max: 64 });

test("head and tail are those of the whole output, byte for byte", () => {
  fc.assert(
    fc.property(chunks, maxBytes, (pieces, max) => {
      const whole = Buffer.concat(pieces);
      const output = gather(max, pieces);
      const { head, tail, omittedBytes } = output.parts(false);
      expect(output.totalBytes).toBe(whole.length);
      expect(output.isTruncated).toBe(whole.length > max);
      expect(head.length + tail.length).toBe(Math.min(whole.length, max));
      expect(omittedBytes).toBe(whole.length - head.length - tail.length);
      expect(Buffer.from(head)).toEqual(whole.subarray(0, head.length));
      expect(Buffer.from(tail)).toEqual(whole.subarray(whole.length - tail.length));
      if (output.isTruncated) expect(head.length - tail.length).toBeWithin(0, 2);
    }),
    { numRuns: 2000 },
  );
});

test("with onCharacters no part splits a character, and no more than a split one is lost", () => {
  const text = fc.string({ unit: "binary", maxLength: 80 });
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 9 }), maxBytes, (given, step, max) => {
      const whole = Buffer.from(given);
      const pieces: Uint8Array[] = [];
      for (let at = 0; at < whole.length; at += step) pieces.push(whole.subarray(at, at + step));
      const { head, tail, omittedBytes } = gather(max, pieces).parts(true);
      const kept = strict.decode(head) + strict.decode(tail); // throws on half a character
      expect(omittedBytes).toBe(whole.length - Buffer.byteLength(kept));
      expect(Buffer.from(head)).toEqual(whole.subarray(0, head.length));
      expect(Buffer.from(tail)).toEqual(whole.subarray(whole.length - tail.length));
      expect(head.length + tail.length).toBeGreaterThanOrEqual(Math.min(whole.length, max) - 6);
    }),
    { numRuns: 2000 },
  );
});

test("invalid UTF-8 stays, except for bytes that could be a split character", () => {
  fc.assert(
    fc.property(chunks, maxBytes, (pieces, max) => {
      const exact = gather(max, pieces).parts(false);
      const { head, tail } = gather(max, pieces).parts(true);
      expect(exact.head.length - head.length).toBeWithin(0, 4);
      expect(exact.tail.length - tail.length).toBeWithin(0, 4);
    }),
  );
});

test("output that fits is complete, even if it ends inside a character", () => {
  const half = Buffer.from("é").subarray(0, 1);
  expect(gather(1, [half]).parts(true)).toEqual({ head: half, tail: new Uint8Array(0), omittedBytes: 0 });
});

test("without a budget only the count stays", () => {
  const output = gather(0, [Buffer.from("abc"), Buffer.from("d")]);
  expect(output.isTruncated).toBeTrue();
  expect(output.parts(true)).toMatchObject({ omittedBytes: 4 });
  expect(output.parts(true).head.length + output.parts(true).tail.length).toBe(0);
  expect(gather(0, []).isTruncated).toBeFalse();
});

test("a budget of one byte keeps the first", () => {
  const { head, tail, omittedBytes } = gather(1, [Buffer.from("abc")]).parts(true);
  expect([Buffer.from(head).toString(), tail.length, omittedBytes]).toEqual(["a", 0, 2]);
  expect(gather(1, [Buffer.from("é")]).parts(true)).toMatchObject({ omittedBytes: 2 });
});

test("a chunk larger than the ring leaves its end", () => {
  const { head, tail } = gather(8, [Buffer.from("0123456789".repeat(100)), Buffer.from("xy")]).parts(false);
  expect(Buffer.from(head).toString()).toBe("0123");
  expect(Buffer.from(tail).toString()).toBe("89xy");
});

test("the caller may reuse the chunk after push", () => {
  const chunk = Buffer.from("abcd");
  const output = gather(8, [chunk]);
  chunk.fill("x");
  expect(Buffer.from(output.parts(false).head).toString()).toBe("abcd");
});

test("memory grows with the output, up to the budget", () => {
  const buffersNow = () => {
    Bun.gc(true);
    return process.memoryUsage().arrayBuffers;
  };
  const chunk = new Uint8Array(64 * 1024);
  const before = buffersNow();
  const quiet = Array.from({ length: 64 }, () => gather(64 * 1024 * 1024, [chunk.subarray(0, 10)]));
  const loud = gather(1024 * 1024, Array<Uint8Array>(1024).fill(chunk));
  expect(buffersNow() - before).toBeLessThan(4 * 1024 * 1024);
  expect(loud.totalBytes).toBe(64 * 1024 * 1024);
  expect(quiet.length).toBe(64);
});

test("after expand it returns every byte that it reports as available", () => {
  const kb = fc.integer({ min: 0, max: 900 });
  const steps = fc.array(fc.tuple(fc.constantFrom("push", "expand"), kb), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(steps, kb, (given, from) => {
      const output = new StreamLog(512 * 1024);
      const pieces: Uint8Array[] = [];
      for (const [what, size] of given) {
        if (what === "expand") {
          output.expand(size * 1024);
          continue;
        }
        pieces.push(
          Uint8Array.from({ length: size * 1024 }, (_, at) => (pieces.length * 7 + (at >> 8)) & 255),
        );
        output.push(pieces.at(-1)!);
      }
      const whole = Buffer.concat(pieces);
      const first = Math.min(from * 1024, whole.length);
      const hasAll = output.hasAllFrom(first);
      let missing = 0;
      for (let at = first; at < whole.length; ) {
        const start = output.resumeFrom(at, false);
        missing += start - at;
        const bytes = output.read(start, 100_000);
        expect(Buffer.compare(bytes, whole.subarray(start, start + bytes.length))).toBe(0);
        at = start + bytes.length;
      }
      expect(missing === 0).toBe(hasAll);
    }),
    { numRuns: 60 },
  );
});

test("after shrink it has its head, its tail and the bytes that a reader needs", () => {
  const size = fc.integer({ min: 0, max: 900 });
  const steps = fc.array(fc.tuple(fc.constantFrom("push", "shrink", "read"), size), {
    minLength: 1,
    maxLength: 14,
  });
  fc.assert(
    fc.property(steps, (given) => {
      let whole = Buffer.alloc(0);
      let cursor = 0;
      let heldBytes = 0;
      const output = new StreamLog(4 * 1024 * 1024, (bytes) => {
        heldBytes += bytes;
      });
      for (const [what, kb] of given) {
        if (what === "read") cursor = Math.min(whole.length, cursor + kb * 1024);
        else if (what === "push") {
          const piece = pattern.subarray(whole.length % 251, (whole.length % 251) + kb * 1024);
          if (output.spaceFor(cursor) < piece.length) cursor = whole.length; // the writer has waited for it
          whole = Buffer.concat([whole, piece]);
          output.push(piece);
        } else {
          const wanted = Math.max(kb * 1024, 512 * 1024);
          const hadAll = output.hasAllFrom(cursor);
          if (output.shrink(wanted, cursor))
            expect(output.heldBytes).toBeLessThanOrEqual(Math.max(wanted, 1));
          expect(output.hasAllFrom(cursor)).toBe(hadAll);
          expect(output.isTruncated).toBe(whole.length > output.keptBytesMax);
        }
        expect(heldBytes).toBe(output.heldBytes);
        const { head, tail, omittedBytes } = output.parts(false);
        expect(head.length + tail.length + omittedBytes).toBe(whole.length);
        expect(Buffer.compare(head, whole.subarray(0, head.length))).toBe(0);
        expect(Buffer.compare(tail, whole.subarray(whole.length - tail.length))).toBe(0);
        const start = output.resumeFrom(cursor, false);
        const bytes = output.read(start, 100_000);
        expect(Buffer.compare(bytes, whole.subarray(start, start + bytes.length))).toBe(0);
      }
    }),
    { numRuns: 40 },
  );
});

const pattern = Uint8Array.from({ length: 901 * 1024 }, (_, at) => at % 251);
