// Delays between retries.
import { afterEach, beforeEach, expect, jest, spyOn, test } from "bun:test";
import { Backoff, retryDelayMs } from "../../../src/client/backoff.ts";

const delays = { firstMs: 20, maxMs: 100 };
let now = 0;

beforeEach(() => {
  now = 0;
  jest.useFakeTimers();
  spyOn(performance, "now").mockImplementation(() => now);
  spyOn(Math, "random").mockImplementation(() => 0.5); // the middle of the jitter
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

function pass(ms: number): void {
  now += ms;
  jest.advanceTimersByTime(ms);
}

test("delays double up to the maximum", () => {
  expect([0, 1, 2, 3, 50].map((attempt) => retryDelayMs(delays, attempt))).toEqual([20, 40, 80, 100, 100]);
});

test("each wait is longer than the one before it", async () => {
  const backoff = new Backoff(delays);
  for (const ms of [20, 40, 80, 100]) {
    let isOver = false;
    const waited = backoff.wait().then(() => {
      isOver = true;
    });
    pass(ms - 1);
    await Promise.resolve();
    expect(isOver).toBe(false);
    pass(1);
    await waited;
  }
  expect(backoff.isExhausted).toBe(false); // there is no deadline
});

test("is exhausted when the next delay would end after the deadline", async () => {
  const backoff = new Backoff({ ...delays, timeoutMs: 50 });
  expect(backoff.isExhausted).toBe(false);
  const waited = backoff.wait();
  pass(20);
  await waited;
  expect(backoff.leftMs).toBe(30);
  expect(backoff.isExhausted).toBe(true); // 40 ms
});

test("a wait that is cancelled rejects at once", async () => {
  const cancelled = Promise.reject(new Error("closed"));
  cancelled.catch(() => {});
  await expect(new Backoff(delays).wait(cancelled)).rejects.toThrow("closed");
});
