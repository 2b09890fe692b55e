// When direct exec leaves a program to a warm shell.
import { expect, test } from "bun:test";
import { SpawnPace } from "../../../../src/fast/direct-exec/direct-exec.ts";

function paceWith(clock: { ms: number }) {
  const pace = new SpawnPace(() => clock.ms);
  const spawn = (tookMs: number) =>
    pace.measure(() => {
      clock.ms += tookMs;
      return {};
    });
  return { pace, spawn };
}

test("after three slow spawns in a row, spawns are avoided for a while", () => {
  const clock = { ms: 100 };
  const { pace, spawn } = paceWith(clock);
  spawn(0.4);
  pace.ended();
  expect(pace.isFast).toBe(true);
  for (const tookMs of [2.3, 3, 0.4, 9, 2.1]) {
    spawn(tookMs);
    pace.ended();
    expect(pace.isFast).toBe(true);
  }
  spawn(2.3);
  pace.ended();
  expect(pace.isFast).toBe(false);
  clock.ms += 4999;
  expect(pace.isFast).toBe(false);
  clock.ms += 1;
  expect(pace.isFast).toBe(true);
});

test("a spawn beside other programs of the daemon says nothing", () => {
  const { pace, spawn } = paceWith({ ms: 0 });
  spawn(0.4);
  for (let count = 0; count < 5; count++) spawn(3);
  expect(pace.isFast).toBe(true);
});

test("a spawn that failed leaves no program running", () => {
  const { pace, spawn } = paceWith({ ms: 0 });
  for (let count = 0; count < 5; count++) pace.measure(() => undefined);
  for (let count = 0; count < 3; count++) {
    spawn(2.5);
    pace.ended();
  }
  expect(pace.isFast).toBe(false);
});
