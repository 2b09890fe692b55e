// Medians and tails of what was measured, and how it grows.

export function percentile(samples: number[], part: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!;
}

export const median = (samples: number[]): number => percentile(samples, 0.5);

export interface Point {
  size: number;
  value: number;
}

/** Least squares: what one more of the size adds to the value. */
export function fittedSlope(points: Point[]): number {
  const mean = (pick: (point: Point) => number) =>
    points.reduce((sum, point) => sum + pick(point), 0) / points.length;
  const size = mean((point) => point.size);
  const value = mean((point) => point.value);
  const rise = points.reduce((sum, point) => sum + (point.size - size) * (point.value - value), 0);
  const run = points.reduce((sum, point) => sum + (point.size - size) ** 2, 0);
  return rise / run;
}
