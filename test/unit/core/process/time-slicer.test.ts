// Small work is done synchronously, large work yields to the event loop, and simultaneous work shares one slice.

import { expect, test } from "bun:test";
import { runToEnd, type Steps, TimeSlicer } from "../../../../src/core/process/time-slicer.ts";

const slicer = new TimeSlicer();

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
  expect(slicer.run(work(0))).toBe(0);
  expect(runToEnd(work(3))).toBe(3);
});

test("large work yields to the event loop, also if there is much of it at a time", async () => {
  let isOver = false;
  let longestMs = 0;
  const usedMs = () => process.cpuUsage().user / 1000;
  const results = Promise.all(Array.from({ length: 10 }, () => slicer.run(work(40)))).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    // In processor time: other processes may load the machine.
    const began = usedMs();
    await new Promise(setImmediate);
    longestMs = Math.max(longestMs, usedMs() - began);
  }
  expect(await results).toEqual(Array.from({ length: 10 }, () => 40));
  expect(longestMs).toBeLessThan(50); // of 400
});

test("an exception of a step reaches its caller, and other work continues", async () => {
  function* failing(): Steps<void> {
    yield* work(20);
    throw new Error("a step failed");
  }
  const failed = (async () => slicer.run(failing()))();
  const other = slicer.run(work(20));
  await expect(failed).rejects.toThrow("a step failed");
  expect(await other).toBe(20);
});
