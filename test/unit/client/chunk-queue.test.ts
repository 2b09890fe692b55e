import { expect, test } from "bun:test";
import { type Chunk, ChunkQueue } from "../../../src/client/chunk-queue.ts";

const text = () => new ChunkQueue<string>({ stdout: 0, stderr: 0 }, false, 1000, () => {});
const bytes = (...pieces: number[]) => Uint8Array.from(pieces);

async function rest(queue: ChunkQueue<string>): Promise<Chunk[]> {
  queue.end();
  const chunks: Chunk[] = [];
  for (let next = await queue.next(); next; next = await queue.next()) chunks.push(next);
  return chunks;
}

test("a character that is cut between two frames stays whole, with the offset of its first byte", async () => {
  const all = new TextEncoder().encode("aé€🎈b");
  for (let cut = 0; cut <= all.length; cut++) {
    const queue = text();
    queue.push("stdout", all.subarray(0, cut), 0);
    queue.push("stdout", all.subarray(cut), cut);
    const chunks = await rest(queue);
    expect(chunks.map(({ data }) => data).join("")).toBe("aé€🎈b");
    for (const [index, { offset }] of chunks.entries()) {
      const before = chunks.slice(0, index).map(({ data }) => data);
      expect(offset).toBe(new TextEncoder().encode(before.join("")).length);
    }
  }
});

test("invalid UTF-8 becomes the replacement character and does not wait for more bytes", async () => {
  const queue = text();
  queue.push("stdout", bytes(0xff, 0x61, 0xf0), 0);
  queue.push("stdout", bytes(0x62, 0xe2, 0x82), 3);
  expect((await rest(queue)).map(({ data }) => data).join("")).toBe("\ufffda\ufffdb\ufffd");
});

test("a character that is cut by a gap is not completed after it, and the gap is reported", async () => {
  const queue = text();
  queue.push("stdout", bytes(0x61, 0xe2), 0);
  queue.push("stdout", bytes(0x62), 10);
  expect(await rest(queue)).toEqual([
    { type: "stdout", data: "a", offset: 0, missing: 0 },
    { type: "stdout", data: "\ufffd", offset: 1, missing: 0 },
    { type: "stdout", data: "b", offset: 10, missing: 8 },
  ]);
});

test("discarded output is reported as missing to a later reader", async () => {
  const queue = text();
  queue.push("stdout", bytes(0x61, 0x62), 0);
  queue.discard();
  queue.push("stdout", bytes(0x63), 2);
  queue.keep();
  queue.push("stdout", bytes(0x64), 3);
  expect(await rest(queue)).toEqual([{ type: "stdout", data: "d", offset: 3, missing: 3 }]);
});

test("unread output is fetched again after a loop was left, from the start of a character", () => {
  const queue = text();
  queue.push("stdout", bytes(0x61, 0xe2), 0);
  void queue.next();
  queue.push("stdout", bytes(0x82, 0xac, 0x62), 2);
  queue.forget();
  expect(queue.received).toEqual({ stdout: 1, stderr: 0 });
});
