// Floods that the daemon reads itself: for those that have little to say at a time it does not stay awake.
import { expect, test } from "bun:test";
import { Flood } from "../../../../src/core/pty/flood-rounds.ts";
import type { OwnReading } from "../../../../src/core/pty/own-reading-linux.ts";

async function turnsOf(bytesEach: number): Promise<number> {
  let turns = 0;
  const reading = { read: () => bytesEach, giveBack() {} } as unknown as OwnReading;
  const flood = new Flood(
    reading,
    {},
    () => void turns++,
    () => {},
  );
  await Bun.sleep(100);
  flood.end();
  return turns;
}

test("who prints line by line is read a thousand times a second, and not all the time", async () => {
  const turns = await turnsOf(80);
  expect(turns).toBeGreaterThan(5);
  expect(turns).toBeLessThan(150);
  expect(await turnsOf(4096)).toBeGreaterThan(150);
});
