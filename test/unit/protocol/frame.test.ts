import { expect, test } from "bun:test";
import fc from "fast-check";
import { encodeFrame, type Line, LineDecoder } from "../../../src/protocol/frame.ts";

const tooLong = "(too long)";

/** What a decoder makes of these chunks, each line as text. */
function decode(chunks: Iterable<Uint8Array | string>, maxBytes = 1024): string[] {
  const decoder = new LineDecoder(maxBytes);
  const lines: string[] = [];
  const take = (line: Line) => lines.push(line.kind === "line" ? latin1(line.bytes) : tooLong);
  for (const chunk of chunks) for (const line of decoder.push(Buffer.from(chunk))) take(line);
  for (const line of decoder.end()) take(line);
  return lines;
}

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

/** The contract in its plainest form: split, then judge each line by itself. */
function model(stream: Uint8Array, maxBytes: number): string[] {
  return latin1(stream)
    .split("\n")
    .map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line))
    .map((line) => (line.length > maxBytes ? tooLong : line))
    .filter((line) => !/^[ \t]*$/.test(line));
}

/** Cuts a stream at the given offsets. */
function cut(stream: Uint8Array, places: number[]): Uint8Array[] {
  const at = [0, ...places.map((place) => place % (stream.length + 1)).sort((a, b) => a - b), stream.length];
  return at.slice(1).map((end, i) => stream.subarray(at[i], end));
}

// Mostly bytes that matter to the decoder.
const streamByte = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(0x0a, 0x0d, 0x20, 0x09, 0x61) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 255 }) },
);
const stream = fc.array(streamByte, { maxLength: 120 }).map((bytes) => Uint8Array.from(bytes));

test("any chunking of any bytes gives the same lines", () => {
  const maxBytes = fc.integer({ min: 0, max: 12 });
  fc.assert(
    fc.property(stream, fc.array(fc.nat(), { maxLength: 20 }), maxBytes, (bytes, places, max) => {
      expect(decode(cut(bytes, places), max)).toEqual(model(bytes, max));
    }),
    { numRuns: 2000 },
  );
});

test("byte by byte is the same as all at once", () => {
  fc.assert(
    fc.property(stream, (bytes) => {
      expect(decode([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(decode([bytes]));
    }),
  );
});

test("both line ends are accepted, and blank lines are skipped", () => {
  expect(decode(["a\r\nb\n\n\r\n  \t\r\nc\n"])).toEqual(["a", "b", "c"]);
});

test("only the last carriage return belongs to the line end", () => {
  expect(decode(["a\rb\r\r\n"])).toEqual(["a\rb\r"]);
});

test("a line end split over two chunks is one line end", () => {
  expect(decode(["a\r", "\nb\n"])).toEqual(["a", "b"]);
});

test("a last line without a newline is still a line", () => {
  expect(decode(["a\n", "b"])).toEqual(["a", "b"]);
  expect(decode(["a\n", "b\r"])).toEqual(["a", "b"]);
  expect(decode(["a\n"])).toEqual(["a"]);
});

test("the limit is the last length that passes, whatever the line end and the chunking", () => {
  const [fits, over] = ["x".repeat(8), "x".repeat(9)];
  for (const end of ["\n", "\r\n", ""]) {
    expect(decode([fits + end], 8)).toEqual([fits]);
    expect(decode([...(fits + end)], 8)).toEqual([fits]);
    expect(decode([over + end], 8)).toEqual([tooLong]);
    expect(decode([...(over + end)], 8)).toEqual([tooLong]);
  }
});

test("a too long line is reported once, and the next line is intact", () => {
  const long = "x".repeat(100);
  expect(decode([`${long}\nnext\n`], 8)).toEqual([tooLong, "next"]);
  expect(decode([...`${long}\nnext\n${long}\n${long}`], 8)).toEqual([tooLong, "next", tooLong, tooLong]);
});

test("a line that never ends takes no memory beyond the limit", () => {
  const decoder = new LineDecoder(64 * 1024);
  const chunk = new Uint8Array(64 * 1024).fill(0x78);
  Bun.gc(true);
  const before = process.memoryUsage().arrayBuffers;
  let highest = 0;
  for (let i = 0; i < 4096; i++) {
    for (const _ of decoder.push(chunk)) throw new Error("there is no line yet");
    if (i % 512 === 0) {
      Bun.gc(true);
      highest = Math.max(highest, process.memoryUsage().arrayBuffers - before);
    }
  }
  expect(highest).toBeLessThan(1024 * 1024);
  expect([...decoder.push(Buffer.from("\nnext\n"))].map((line) => line.kind)).toEqual(["too-long", "line"]);
});

test("a long line that comes byte by byte costs no more than its length", () => {
  const decoder = new LineDecoder(2 ** 20);
  const byte = Uint8Array.of(0x78);
  const cpuMs = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  const timeFor = (bytes: number) => {
    const began = cpuMs();
    for (let i = 0; i < bytes; i++)
      for (const _ of decoder.push(byte)) throw new Error("there is no line yet");
    expect([...decoder.push(Buffer.from("\n"))]).toMatchObject([{ kind: "line", bytes: { length: bytes } }]);
    return cpuMs() - began;
  };
  timeFor(16 * 1024); // warm
  const short = timeFor(16 * 1024);
  expect(timeFor(256 * 1024)).toBeLessThan(200 + short * 64); // 16 times the bytes; squared would be 256 times
});

test("a frame is one compact line of UTF-8", () => {
  expect(Buffer.from(encodeFrame({ id: "1", ok: true, data: "é\n" })).toString()).toBe(
    '{"id":"1","ok":true,"data":"é\\n"}\n',
  );
});
