// The daemon's own reading of floods: small pieces are polled by timer, so that the processor can sleep in between.
import { expect, test } from "bun:test";
import { FloodReader } from "../../../../src/core/terminal/flood-reader.ts";
import { TypingActivity } from "../../../../src/core/terminal/typing-activity.ts";

async function turnsOf(bytesEach: number): Promise<{ turns: number; tookMs: number }> {
  const began = performance.now();
  let turns = 0;
  const deliver = () => {
    turns++;
    return bytesEach;
  };
  const flood = new FloodReader(new TypingActivity()).add({ deliver, pause() {}, resume() {} }, {});
  await Bun.sleep(100);
  flood.end();
  return { turns, tookMs: performance.now() - began };
}

test("a program that prints line by line is read about once per millisecond, without busy polling", async () => {
  const few = await turnsOf(80);
  expect(few.turns).toBeGreaterThan(0);
  expect(few.turns).toBeLessThan(few.tookMs * 1.5);
  expect((await turnsOf(4096)).turns).toBeGreaterThan(few.turns * 1.5);
});
