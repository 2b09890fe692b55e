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

test("a slow spawn is avoided for a while", () => {
  const clock = { ms: 100 };
  const { pace, spawn } = paceWith(clock);
  spawn(0.4);
  pace.ended();
  expect(pace.isFast).toBe(true);
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
  spawn(3);
  expect(pace.isFast).toBe(true);
  pace.ended();
  pace.ended();
});

test("a spawn that failed leaves no program running", () => {
  const { pace, spawn } = paceWith({ ms: 0 });
  pace.measure(() => undefined);
  spawn(2.5);
  expect(pace.isFast).toBe(false);
});
