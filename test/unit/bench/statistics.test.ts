import { expect, test } from "bun:test";
import { ratioAtLeast, ratioAtMost, row } from "../../../bench/harness/rows.ts";
import { fittedSlope, percentile } from "../../../bench/harness/statistics.ts";

test("percentiles are of what was measured, in whatever order", () => {
  const samples = Array.from({ length: 200 }, (_, at) => (at * 7) % 200);
  expect([percentile(samples, 0.5), percentile(samples, 0.99), percentile(samples, 1)]).toEqual([
    100, 198, 199,
  ]);
  expect(percentile([3], 0.99)).toBe(3);
});

test("the slope is that of the line through the points", () => {
  expect(fittedSlope([1, 2, 5, 9].map((size) => ({ size, value: 3 + 2 * size })))).toBeCloseTo(2);
  expect(fittedSlope([1, 2, 5].map((size) => ({ size, value: 4 })))).toBeCloseTo(0);
});

test("a bar is judged by the figures that it names, and not without them", () => {
  const common = { scenario: "s", name: "n", unit: "ms", trl: { p50: 1, p99: 30 } } as const;
  const beside = { name: "peer", figure: { p50: 2, p99: 10 } };
  expect(row({ ...common, beside, bar: ratioAtMost(0.5) })).toMatchObject({ ratio: 0.5, isMet: true });
  expect(row({ ...common, beside, bar: ratioAtMost(1, "p99") })).toMatchObject({ ratio: 3, isMet: false });
  expect(row({ ...common, beside, bar: ratioAtLeast(0.6) }).isMet).toBe(false);
  const missing = row({ ...common, beside: { name: "peer", missing: "no peer" }, bar: ratioAtMost(1) });
  expect(missing.isMet).toBeUndefined();
  expect(missing.beside).toEqual({ name: "peer", missing: "no peer" });
});
