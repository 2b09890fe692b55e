// Figures as people read them: three digits, the unit behind.
import type { Bar, Growth, Row, Unit } from "./rows.ts";

const digits = (value: number): string =>
  Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);

export function formatValue(value: number | undefined, unit: Unit): string {
  if (value === undefined) return "";
  if (unit === "ms" && value < 1) return `${digits(value * 1000)} us`;
  if (unit === "/s" || unit === "x") return `${digits(value)}${unit === "x" ? "" : unit}`;
  return `${digits(value)} ${unit}`;
}

export function formatBar(bar: Bar | undefined, unit: Unit): string {
  if (!bar) return "";
  const value = bar.of === "ratio" ? `${bar.value}` : `${bar.value} ${unit}`;
  return `${bar.is} ${value}${bar.at === "p99" ? " (p99)" : ""}`;
}

export const formatSlope = ({ per, part }: Growth["slope"]): string =>
  `${part < 0 ? "" : "+"}${(part * 100).toFixed(1)} % for ${per === 1 ? "each of the" : `${per} more`}`;

export function verdict({ bar, isMet, beside }: Row): string {
  if (isMet !== undefined) return isMet ? "met" : "NOT MET";
  if (bar && beside && "missing" in beside) return "not judged";
  return "";
}
