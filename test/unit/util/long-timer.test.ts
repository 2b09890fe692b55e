import { describe, expect, spyOn, test } from "bun:test";
import { afterSeconds } from "../../../src/util/long-timer.ts";

/** Resolves with whether the timer fired before another one of `otherMs`, set after it, did. */
function firesWithin(seconds: number, otherMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const stop = afterSeconds(seconds, () => resolve(true));
    setTimeout(() => {
      stop();
      resolve(false);
    }, otherMs);
  });
}

test("a timer fires once, and not too early", async () => {
  const began = performance.now();
  let count = 0;
  await new Promise<void>((resolve) => {
    afterSeconds(0.03, () => {
      count++;
      resolve();
    });
  });
  expect(performance.now() - began).toBeGreaterThanOrEqual(30);
  expect(await firesWithin(0.05, 5000)).toBeTrue();
  expect(count).toBe(1);
});

describe("a timer beyond 2^31 ms does not fire at once:", () => {
  for (const seconds of [2 ** 31 / 1000, 2 ** 32 / 1000, 1e10, 1e300, Number.MAX_VALUE]) {
    test(`${seconds} s`, async () => expect(await firesWithin(seconds, 30)).toBeFalse());
  }
});

test("no call of setTimeout exceeds its maximum", () => {
  using setTimer = spyOn(globalThis, "setTimeout");
  const stop = afterSeconds(1e10, () => {});
  stop();
  expect(setTimer.mock.calls.map(([, ms]) => ms)).toEqual([2 ** 31 - 1]);
});

describe("a timer that means no limit never fires:", () => {
  for (const seconds of [0, Number.POSITIVE_INFINITY]) {
    test(`${seconds}`, async () => expect(await firesWithin(seconds, 30)).toBeFalse());
  }
});

test("a cancelled timer does not fire, however often it is cancelled", async () => {
  let fired = false;
  const stop = afterSeconds(0.01, () => {
    fired = true;
  });
  stop();
  stop();
  expect(await firesWithin(0.03, 5000)).toBeTrue();
  expect(fired).toBeFalse();
});

test("a timer shorter than the resolution of the clock still fires", async () => {
  expect(await firesWithin(1e-12, 5000)).toBeTrue();
});
