// The figures of a run as the tables of docs/performance.md, between two marks.
import { formatBar, formatSlope, formatValue, verdict } from "../harness/format.ts";
import type { Report } from "../harness/report.ts";
import type { Row } from "../harness/rows.ts";

export const beginMark = "<!-- figures: made by `bun run bench:chart` -->";
export const endMark = "<!-- end of figures -->";

export function withFigures(page: string, report: Report): string {
  const begin = page.indexOf(beginMark);
  const end = page.indexOf(endMark);
  if (begin < 0 || end < begin) throw new Error("the page lacks the marks for the figures");
  return `${page.slice(0, begin)}${beginMark}\n\n${figures(report)}\n${page.slice(end)}`;
}

export const machineLine = ({ machine, client, version, load_before }: Report): string =>
  `trl ${version}, ${machine.cores} shared cores (${machine.processor}, ${machine.memory_gb} GB, ${machine.system}, load ${load_before} before the run), ${client} client`;

function figures(report: Report): string {
  const titles = ["scenario", "what", "trl p50", "p99", "beside", "p50", "p99", "ratio", "bar", ""];
  const growthTitles = ["how cost grows", "at", "slope"];
  const growth = report.growth.map(({ scenario, name, unit, points, slope, of }) => [
    `${scenario}: ${name}`,
    points.map(({ size, value }) => `${size}: ${formatValue(value, unit)}`).join(", "),
    `${formatSlope(slope)} ${of}`,
  ]);
  return [
    `Measured in one run: ${machineLine(report)}.\n`,
    markdownTable(titles, report.rows.map(cellsOf)),
    markdownTable(growthTitles, growth),
    ...report.missing.map((what) => `Missing in this run: ${what}.\n`),
  ].join("\n");
}

function cellsOf(row: Row): string[] {
  const { scenario, name, unit, trl, beside, ratio, bar } = row;
  const other = beside && "p50" in beside ? beside : undefined;
  return [
    scenario,
    name,
    formatValue(trl.p50, unit),
    formatValue(trl.p99, unit),
    beside?.name ?? "",
    beside && "missing" in beside ? "missing" : formatValue(other?.p50, unit),
    formatValue(other?.p99, unit),
    ratio?.toFixed(2) ?? "",
    formatBar(bar, unit),
    verdict(row),
  ];
}

function markdownTable(titles: string[], rows: string[][]): string {
  const widths = titles.map((_, column) =>
    Math.max(3, ...[titles, ...rows].map((row) => row[column]!.length)),
  );
  const line = (cells: string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(" | ")} |\n`;
  const rule = line(widths.map((width) => "-".repeat(width)));
  return line(titles) + rule + rows.map(line).join("");
}
