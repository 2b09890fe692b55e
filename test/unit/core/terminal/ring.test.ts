import { expect, test } from "bun:test";
import fc from "fast-check";
import { OutputRing } from "../../../../src/core/terminal/ring.ts";
import type { Packing, Unpacking } from "../../../../src/upgrade/schema/fields.ts";

test("the ring returns what was pushed, byte for byte", () => {
  const chunk = fc.integer({ min: 0, max: 9000 });
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 30 }), fc.integer({ min: 4096, max: 40_000 }), (sizes, max) => {
      const ring = new OutputRing(max);
      let whole = Buffer.alloc(0);
      for (const [at, size] of sizes.entries()) {
        const bytes = Buffer.from(Uint8Array.from({ length: size }, (_, i) => (at * 31 + i * 7) & 255));
        ring.push(bytes);
        if (size % 5 === 0) ring.compact();
        if (size % 3 === 0) ring.compress();
        if (size % 7 === 0) ring.compact();
        whole = Buffer.concat([whole, bytes]);
        expect(ring.end).toBe(whole.length);
        expect(ring.end - ring.start).toBe(Math.min(whole.length, ring.end - ring.start));
        expect(ring.start === 0 || ring.end - ring.start > max - 4096).toBe(true);
        expect(Buffer.compare(ring.copy(ring.start), whole.subarray(ring.start))).toBe(0);
      }
      expect(ring.heldBytes).toBeLessThanOrEqual(max);
    }),
    { numRuns: 200 },
  );
});

test("memory grows with the output", () => {
  const ring = new OutputRing(1024 * 1024);
  ring.push(new Uint8Array(100));
  expect(ring.heldBytes).toBe(4096);
});

test("beyond its minimum, a ring grows only if mayGrow allows it, and retries later", () => {
  const mib = 1024 * 1024;
  const asked: number[] = [];
  let isAllowed = false;
  const ring = new OutputRing(8 * mib, (bytes) => {
    asked.push(bytes);
    return isAllowed;
  });
  const line = new Uint8Array(64 * 1024);
  const print = (bytes: number) => {
    for (let printed = 0; printed < bytes; printed += line.length)
      ring.push(line.fill(printed / line.length));
  };
  print(mib);
  expect([ring.heldBytes, ring.capacity, asked.length]).toEqual([mib, 8 * mib, 0]);
  print(mib);
  expect([ring.heldBytes, ring.capacity, ring.start, ring.end]).toEqual([mib, mib, mib, 2 * mib]);
  expect(asked).toEqual([mib]);
  expect(ring.copy(ring.start)[0]).toBe(0);
  expect(ring.copy(2 * mib - 1)[0]).toBe(15);
  isAllowed = true;
  print(20 * mib);
  expect([ring.heldBytes, ring.capacity, ring.start]).toEqual([8 * mib, 8 * mib, 14 * mib]);
});

test("a chunk larger than a ring that may not grow leaves its end", () => {
  const ring = new OutputRing(8 * 1024 * 1024, () => false);
  ring.push(new Uint8Array(3 * 1024 * 1024).fill(1));
  expect([ring.heldBytes, ring.end - ring.start]).toEqual([1024 * 1024, 1024 * 1024]);
});

test("a compressed ring takes less memory until it is accessed", () => {
  const ring = new OutputRing(1024 * 1024);
  const text = Buffer.from("a line of ordinary text\r\n".repeat(4000));
  ring.push(text);
  const held = ring.heldBytes;
  expect(ring.compress()).toBe(held);
  expect(ring.heldBytes).toBeLessThan(held / 10);
  expect(ring.compress()).toBe(0);
  expect(Buffer.compare(ring.copy(0), text)).toBe(0);
  expect(ring.heldBytes).toBe(held);
  ring.compress();
  ring.clear();
  expect([ring.start, ring.end, ring.heldBytes]).toEqual([text.length, text.length, 0]);
});

test("incompressible output is tried once", () => {
  const ring = new OutputRing(1024 * 1024);
  ring.push(crypto.getRandomValues(new Uint8Array(60_000)));
  expect(ring.compress()).toBe(ring.heldBytes);
  expect(ring.compress()).toBe(0);
});

test("an upgrade keeps all bytes of a ring, whatever mayGrow allows then", () => {
  const ring = new OutputRing(8 * 1024 * 1024);
  ring.push(new Uint8Array(3 * 1024 * 1024).fill(7));
  let bytes: Uint8Array = new Uint8Array(0);
  const state = ring.pack({
    bytes: (piece: Uint8Array) => {
      bytes = piece;
      return { at: 0, length: piece.length };
    },
  } as unknown as Packing);
  const taken = OutputRing.from(
    state,
    { bytes: () => bytes } as unknown as Unpacking,
    8 * 1024 * 1024,
    () => false,
  );
  expect([taken.start, taken.end, taken.copy(0).length]).toEqual([0, ring.end, ring.end]);
  taken.push(new Uint8Array(4096));
  expect([taken.end - taken.start, taken.capacity]).toEqual([3 * 1024 * 1024, 3 * 1024 * 1024]);
});
