// Renders tables by display width. On a terminal columns shrink or drop out to fit; in a pipe nothing is cut or
// coloured.

import type { Paint, Tone } from "../../util/style.ts";
import { oneLine } from "./format.ts";
import { stdoutPaint } from "./paint.ts";

export interface Column<Row> {
  title: string;
  cell(row: Row): string | number | null | undefined;
  tone?(row: Row): Tone | undefined;
  isRight?: boolean;
  /** Minimum width on a narrow terminal. */
  shrinksTo?: number;
  /** Cuts at the start, for paths. */
  keepsEnd?: boolean;
  /** The column is dropped if shrinking is not enough; lowest number first. */
  leftOut?: number;
}

export interface TableLook {
  paint: Paint;
  /** Undefined if unlimited. */
  width: number | undefined;
  /** Title of the column that is bold in the header. */
  marked?: string;
}

const gap = "  ";

export function stdoutLook(): TableLook {
  const width = process.stdout.isTTY ? process.stdout.columns || undefined : undefined;
  return { paint: stdoutPaint(), width };
}

/** Each line ends with a newline. */
export function renderTable<Row>(columns: Column<Row>[], rows: Row[], look: TableLook): string {
  return tableLines(columns, rows, look)
    .map((line) => `${line}\n`)
    .join("");
}

export function tableLines<Row>(all: Column<Row>[], rows: Row[], look: TableLook): string[] {
  const columns = look.width === undefined ? all : thatFit(all, rows, look.width);
  const texts = rows.map((row) => columns.map((column) => cellText(column.cell(row))));
  const natural = columns.map((column) => naturalWidth(column, rows));
  const widths = look.width === undefined ? natural : fit(columns, natural, look.width);
  const line = (cells: string[], toneOf: (at: number) => Tone | undefined) => {
    const align = aligner(columns, widths, look.paint);
    return cells.map((text, at) => align(text, at, toneOf(at))).join(gap);
  };
  const titles = columns.map(({ title }) => title);
  return [
    line(titles, (at) => (titles[at] === look.marked ? "bold" : "dim")),
    ...texts.map((cells, row) => line(cells, (at) => columns[at]!.tone?.(rows[row]!))),
  ].map((text) => (look.width === undefined ? text : cutStyled(text, look.width)));
}

const naturalWidth = <Row>({ title, cell }: Column<Row>, rows: Row[]): number =>
  Math.max(...[title, ...rows.map((row) => cellText(cell(row)))].map((text) => Bun.stringWidth(text)));

function thatFit<Row>(columns: Column<Row>[], rows: Row[], width: number): Column<Row>[] {
  const least = new Map(columns.map((column) => [column, leastWidth(column, naturalWidth(column, rows))]));
  const kept = new Set(columns);
  const isTooWide = () => totalWidth([...kept].map((column) => least.get(column)!)) > width;
  const order = (column: Column<Row>) => column.leftOut ?? Number.POSITIVE_INFINITY;
  for (const column of columns
    .filter((it) => it.leftOut !== undefined)
    .toSorted((a, b) => order(a) - order(b)))
    if (isTooWide()) kept.delete(column);
  return [...kept];
}

const leastWidth = <Row>({ title, shrinksTo }: Column<Row>, natural: number): number =>
  shrinksTo === undefined ? natural : Math.min(natural, Math.max(shrinksTo, title.length));

const totalWidth = (widths: number[]): number =>
  widths.reduce((sum, width) => sum + width + gap.length, -gap.length);

function cellText(cell: string | number | null | undefined): string {
  const text = typeof cell === "number" ? String(cell) : oneLine(cell ?? "");
  return text === "" ? "-" : text;
}

/** Colours the text without its padding; the last column has no padding. */
function aligner<Row>(columns: Column<Row>[], widths: number[], paint: Paint) {
  return (text: string, at: number, tone: Tone | undefined): string => {
    const shown = (columns[at]!.keepsEnd ? cutStart : cut)(text, widths[at]!);
    const space = " ".repeat(widths[at]! - Bun.stringWidth(shown));
    if (columns[at]!.isRight) return space + paint(tone, shown);
    return paint(tone, shown) + (at === columns.length - 1 ? "" : space);
  };
}

/** Shrinks the widest column first. */
function fit<Row>(columns: Column<Row>[], natural: number[], total: number): number[] {
  const widths = [...natural];
  const least = columns.map((column, at) => leastWidth(column, natural[at]!));
  for (let excess = totalWidth(widths) - total; excess > 0; excess--) {
    const wide = widths.map((width, at) => (width > least[at]! ? width : 0));
    const widest = Math.max(...wide);
    if (widest === 0) break;
    widths[wide.indexOf(widest)]! -= 1;
  }
  return widths;
}

const segmenter = new Intl.Segmenter();

/** Cuts to `width`, with an ellipsis. */
export function cut(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text;
  let shown = "";
  let left = width - 1;
  for (const { segment } of segmenter.segment(text)) {
    left -= Bun.stringWidth(segment);
    if (left < 0) break;
    shown += segment;
  }
  return `${shown}…`;
}

function cutStart(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text;
  const segments = [...segmenter.segment(text)].map(({ segment }) => segment);
  let first = segments.length;
  for (let left = width - 1; first > 0; first--) {
    left -= Bun.stringWidth(segments[first - 1]!);
    if (left < 0) break;
  }
  return `…${segments.slice(first).join("")}`;
}

/** Cuts a coloured line; all colour sequences stay, so that a colour that is cut still ends. */
function cutStyled(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text;
  let shown = "";
  let left = width;
  for (const piece of text.split(/(\x1b\[\d+m)/)) {
    if (piece.startsWith("\x1b")) shown += piece;
    else {
      const part = left > 0 ? cut(piece, left) : "";
      left -= Bun.stringWidth(part);
      shown += part;
    }
  }
  return shown;
}
