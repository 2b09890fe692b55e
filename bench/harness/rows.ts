// What a scenario gives: rows of the table, each trl beside one floor or peer, with the bar that it is to meet.
import { fittedSlope, median, type Point, percentile } from "./statistics.ts";

export type Unit = "ms" | "MB/s" | "/s" | "KB" | "MB" | "%" | "us" | "x";

export interface Figure {
  p50: number;
  p99?: number;
  /** How many times it was measured. */
  count?: number;
}

export interface Bar {
  is: "<=" | ">=";
  value: number;
  /** Of the ratio, or of trl's own figure in its unit. */
  of: "ratio" | "trl";
  /** Which figures are compared. */
  at?: "p50" | "p99";
}

export interface Row {
  scenario: string;
  name: string;
  unit: Unit;
  trl: Figure;
  beside?: { name: string } & (Figure | { missing: string });
  ratio?: number;
  bar?: Bar;
  /** Undefined without a bar, and where what it is measured against is missing. */
  isMet?: boolean;
  note?: string;
}

export interface Growth {
  scenario: string;
  name: string;
  unit: Unit;
  points: Point[];
  /** What so many more add, as a part of the cost at the first size that counts. */
  slope: { per: number; part: number };
  /** What the size counts. */
  of: string;
}

export interface Result {
  rows: Row[];
  growth?: Growth[];
}

export interface GrowthSpec {
  scenario: string;
  name: string;
  unit: Unit;
  points: Point[];
  of: string;
  per: number;
  /** Smaller sizes are shown, but what is fixed would hide there what grows. */
  fromSize: number;
}

export function growth({ scenario, name, unit, points, of, per, fromSize }: GrowthSpec): Growth {
  const fitted = points.filter(({ size }) => size >= fromSize);
  const slope = { per, part: (fittedSlope(fitted) * per) / fitted[0]!.value };
  return { scenario, name, unit, points, slope, of };
}

export const figure = (samples: number[]): Figure => ({
  p50: median(samples),
  p99: percentile(samples, 0.99),
  count: samples.length,
});

/** Of rates the tail is the slow end. */
export const rateFigure = (samples: number[]): Figure => ({
  p50: median(samples),
  p99: percentile(samples, 0.01),
  count: samples.length,
});

export interface RowSpec {
  scenario: string;
  name: string;
  unit: Unit;
  trl: Figure;
  beside?: { name: string; figure: Figure } | { name: string; missing: string };
  bar?: Bar;
  note?: string;
}

export function row({ scenario, name, unit, trl, beside, bar, note }: RowSpec): Row {
  const at = bar?.at ?? "p50";
  const other = beside && "figure" in beside ? beside.figure : undefined;
  const mine = trl[at];
  const theirs = other?.[at];
  const ratio = mine !== undefined && theirs ? mine / theirs : undefined;
  const judged = bar?.of === "trl" ? mine : ratio;
  const isMet = bar && judged !== undefined ? meets(judged, bar) : undefined;
  return {
    scenario,
    name,
    unit,
    trl,
    ...(beside && {
      beside: { name: beside.name, ...("figure" in beside ? beside.figure : { missing: beside.missing }) },
    }),
    ...(ratio !== undefined && { ratio }),
    ...(bar && { bar }),
    ...(isMet !== undefined && { isMet }),
    ...(note && { note }),
  };
}

const meets = (value: number, { is, value: limit }: Bar): boolean =>
  is === "<=" ? value <= limit : value >= limit;

export const ratioAtMost = (value: number, at: "p50" | "p99" = "p50"): Bar => ({
  is: "<=",
  value,
  of: "ratio",
  at,
});
export const ratioAtLeast = (value: number): Bar => ({ is: ">=", value, of: "ratio" });
export const atMost = (value: number, at: "p50" | "p99" = "p50"): Bar => ({
  is: "<=",
  value,
  of: "trl",
  at,
});
