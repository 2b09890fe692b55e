// Work in slices: small work is done at once, large work lets others in, and much work at a time shares one slice.
import { expect, test } from "bun:test";
import { atOnce, inSlices, type Steps } from "../../../../src/core/process/time-slicer.ts";

/** Steps that keep the processor busy for about a millisecond each. */
function* work(steps: number): Steps<number> {
  for (let step = 0; step < steps; step++) {
    const end = performance.now() + 1;
    while (performance.now() < end);
    yield;
  }
  return steps;
}

test("small work has ended when the call returns", () => {
  expect(inSlices(work(0))).toBe(0);
  expect(atOnce(work(3))).toBe(3);
});

test("large work lets others in, also where there is much of it at a time", async () => {
  let isOver = false;
  let longestMs = 0;
  const usedMs = () => process.cpuUsage().user / 1000;
  const results = Promise.all(Array.from({ length: 10 }, () => inSlices(work(40)))).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    // By the processor's time: the machine may be busy with others.
    const began = usedMs();
    await new Promise(setImmediate);
    longestMs = Math.max(longestMs, usedMs() - began);
  }
  expect(await results).toEqual(Array.from({ length: 10 }, () => 40));
  expect(longestMs).toBeLessThan(50); // of 400
});

test("what a step throws is the caller's, and others go on", async () => {
  function* failing(): Steps<void> {
    yield* work(20);
    throw new Error("a step failed");
  }
  const failed = (async () => inSlices(failing()))();
  const other = inSlices(work(20));
  await expect(failed).rejects.toThrow("a step failed");
  expect(await other).toBe(20);
});
