// The table that one reads, from the same rows that go into the JSON: a heading for each scenario, and below a line
// for each peer. Not the table of the command line, which has one line for each thing and no empty cells.
import { stdoutPaint } from "../../src/cli/ui/paint.ts";
import type { Paint, Tone } from "../../src/util/style.ts";
import { formatBar, formatSlope, formatValue, verdict } from "./format.ts";
import type { Growth, Row } from "./rows.ts";

interface Cell {
  text: string;
  tone?: Tone;
  isRight?: boolean;
}

const gap = "  ";
const plain = (text = ""): Cell => ({ text });
const right = (text = "", tone?: Tone): Cell => ({ text, isRight: true, ...(tone && { tone }) });

export function resultTable(rows: Row[], paint: Paint = stdoutPaint()): string {
  const titles = ["", "trl p50", "p99", "beside", "p50", "p99", "ratio", "bar", ""];
  const header = titles.map(
    (text, at): Cell => ({ text, tone: "dim", isRight: [1, 2, 4, 5, 6].includes(at) }),
  );
  const lines = rows.map((row, at) => cellsOf(row, isSame(row, rows[at - 1])));
  const [head, ...rest] = aligned([header, ...lines], paint);
  const body = rest.flatMap((line, at) => {
    const { scenario } = rows[at]!;
    return scenario === rows[at - 1]?.scenario ? [line] : ["", paint("cyan", scenario), line];
  });
  return `${[head, ...body].join("\n")}\n`;
}

/** It goes on with what the line above has begun, beside another peer. */
const isSame = (row: Row, above: Row | undefined): boolean =>
  above?.scenario === row.scenario && above.name === row.name;

function cellsOf(row: Row, isMore: boolean): Cell[] {
  const { name, unit, trl, beside, ratio, bar, isMet } = row;
  const other = beside && "p50" in beside ? beside : undefined;
  return [
    plain(isMore ? "" : `  ${name}`),
    right(isMore ? "" : formatValue(trl.p50, unit), "bold"),
    right(isMore ? "" : formatValue(trl.p99, unit)),
    plain(beside?.name),
    right(beside && "missing" in beside ? "missing" : formatValue(other?.p50, unit)),
    right(formatValue(other?.p99, unit)),
    right(ratio?.toFixed(2), "bold"),
    plain(formatBar(bar, unit)),
    { text: verdict(row), tone: isMet === undefined ? "yellow" : isMet ? "green" : "red" },
  ];
}

export function growthTable(growth: Growth[], paint: Paint = stdoutPaint()): string {
  const header = ["how cost grows", "at", "slope"].map((text): Cell => ({ text, tone: "dim" }));
  const lines = growth.map(({ scenario, name, unit, of, points, slope }) => [
    plain(`  ${scenario}: ${name}`),
    plain(points.map(({ size, value }) => `${size}: ${formatValue(value, unit)}`).join("   ")),
    { text: `${formatSlope(slope)} ${of}`, tone: "bold" as const },
  ]);
  return `${aligned([header, ...lines], paint).join("\n")}\n`;
}

function aligned(lines: Cell[][], paint: Paint): string[] {
  const widths = lines[0]!.map((_, column) =>
    Math.max(...lines.map((line) => Bun.stringWidth(line[column]!.text))),
  );
  return lines.map((line) =>
    line
      .map(({ text, tone, isRight }, column) => {
        const space = " ".repeat(widths[column]! - Bun.stringWidth(text));
        const painted = paint(tone, text);
        return isRight ? space + painted : painted + space;
      })
      .join(gap)
      .trimEnd(),
  );
}
