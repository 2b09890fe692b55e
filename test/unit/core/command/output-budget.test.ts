// What all commands may keep together.
import { describe, expect, test } from "bun:test";
import { CommandOutput } from "../../../../src/core/command/output.ts";
import { levelOf, OutputBudget } from "../../../../src/core/command/output-budget.ts";

const mib = 1024 * 1024;
const flood = (output: CommandOutput, bytes: number, stream: "stdout" | "stderr" = "stdout") => {
  const sink = output.sinkOf(stream);
  const chunk = new Uint8Array(64 * 1024).fill(65);
  let waits: unknown;
  for (let sent = 0; sent < bytes && !waits; sent += chunk.length) waits = sink(chunk);
  return waits;
};

test("the level to which the largest must come down", () => {
  expect(levelOf([1, 2, 3], 6)).toBe(Number.POSITIVE_INFINITY);
  expect(levelOf([1, 10, 10], 11)).toBe(5);
  expect(levelOf([9, 1, 9, 1], 10)).toBe(4);
  expect(levelOf([], 10)).toBe(Number.POSITIVE_INFINITY);
});

describe("over the budget", () => {
  test("the largest give, the small keep all, and each says what it left out", () => {
    const budget = new OutputBudget(16 * mib);
    const small = CommandOutput.keeping(8 * mib);
    const large = Array.from({ length: 10 }, () => CommandOutput.keeping(8 * mib));
    for (const output of [small, ...large]) budget.add(output);
    flood(small, mib / 2);
    for (const output of large) flood(output, 20 * mib);
    expect(budget.heldBytes).toBeLessThanOrEqual(16 * mib);
    expect(small.stdout.isTruncated).toBeFalse();
    expect(small.stdout.parts(false).head.length).toBe(mib / 2);
    for (const { stdout } of large) {
      expect(stdout.isTruncated).toBeTrue();
      const { head, tail, omittedBytes } = stdout.parts(false);
      expect(head.length + tail.length + omittedBytes).toBe(20 * mib);
      expect(head.length).toBeGreaterThanOrEqual(mib / 4);
    }
  });

  test("what a reader has not read is not dropped: its command waits, and no memory is added", () => {
    const budget = new OutputBudget(8 * mib);
    const outputs = Array.from({ length: 4 }, () => CommandOutput.keeping(64 * mib));
    for (const output of outputs) budget.add(output);
    const readers = outputs.map((output) => output.openReader({ stdout: 0, stderr: 0 }, () => {}));
    for (const output of outputs) expect(flood(output, 40 * mib)).toBeInstanceOf(Promise);
    expect(budget.heldBytes).toBeLessThan(8 * mib + outputs.length * 2 * mib);
    for (const reader of readers) expect(reader.peek("stdout", 1, false)).toMatchObject({ offset: 0 });
  });

  test("what is forgotten does not count", () => {
    const budget = new OutputBudget(8 * mib);
    const output = CommandOutput.keeping(4 * mib);
    budget.add(output);
    flood(output, 5 * mib);
    expect(budget.heldBytes).toBe(output.heldBytes);
    budget.remove(output);
    budget.remove(output);
    flood(output, 5 * mib);
    expect(budget.heldBytes).toBe(0);
  });
});
