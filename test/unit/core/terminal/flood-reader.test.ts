// Floods that the daemon reads itself: for those that have little to say at a time it does not stay awake.
import { expect, test } from "bun:test";
import type { MasterReader } from "../../../../src/core/terminal/drivers/master-reader-linux.ts";
import { Flood } from "../../../../src/core/terminal/flood-reader.ts";

async function turnsOf(bytesEach: number): Promise<{ turns: number; tookMs: number }> {
  const began = performance.now();
  let turns = 0;
  const reader = { read: () => bytesEach, pause() {}, resume() {} } as unknown as MasterReader;
  const flood = new Flood(
    reader,
    {},
    () => void turns++,
    () => {},
  );
  await Bun.sleep(100);
  flood.end();
  return { turns, tookMs: performance.now() - began };
}

test("who prints line by line is read a thousand times a second, and not all the time", async () => {
  const few = await turnsOf(80);
  expect(few.turns).toBeGreaterThan(0);
  expect(few.turns).toBeLessThan(few.tookMs * 1.5);
  expect((await turnsOf(4096)).turns).toBeGreaterThan(few.turns * 1.5);
});
