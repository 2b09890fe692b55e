// Renders one sample of `trl top` as lines: header, table, keys.

import type { Paint } from "../../util/style.ts";
import { runningColumns } from "../running.ts";
import { bytes, duration } from "./format.ts";
import { type Column, cut, tableLines } from "./table.ts";
import { type Sample, type SortName, sorted, type TopRow } from "./top-sample.ts";

export interface View {
  version: string;
  sort: SortName;
  isReversed: boolean;
  /** Number of rows scrolled past. */
  scrolled: number;
  /** The daemon has not answered for a while. */
  isStale: boolean;
  paint: Paint;
}

export interface Window {
  cols: number;
  rows: number;
}

const rateText = (rate: number | undefined): string => (rate ? `${bytes(rate)}/s` : "-");

const { id, session, kind, pid, elapsed, output, command } = runningColumns;
const rate: Column<TopRow> = {
  title: "RATE",
  cell: (row) => rateText(row.bytes_per_s),
  tone: (row) => (row.bytes_per_s ? "cyan" : undefined),
  isRight: true,
};
const columns: Column<TopRow>[] = [id, session, kind, pid, elapsed, output, rate, command];

const titles: Record<SortName, string> = {
  elapsed: elapsed.title,
  output: output.title,
  rate: rate.title,
  session: session.title,
};

const keysLine = "q quit   sort: e elapsed  o output  r rate  s session";

const staleLine = "the daemon does not answer; q quits";

export function headerOf({ stats, bytes_per_s }: Sample, version: string): string {
  const count = (number: number, word: string) => `${number} ${word}${number === 1 ? "" : "s"}`;
  return [
    `trl ${version}`,
    `up ${duration(stats.uptime_s * 1000)}`,
    count(stats.active_sessions, "session"),
    `${count(stats.running_commands, "command")} running`,
    count(stats.pty_sessions, "terminal"),
    bytes(stats.memory_rss_bytes),
    `${bytes(bytes_per_s)}/s`,
  ].join("  ");
}

/** All rows, for a pipe or --once. */
export function plainLines(sample: Sample, view: View, width: number | undefined): string[] {
  const rows = sorted(sample.rows, view.sort, view.isReversed);
  const table = rows.length > 0 ? tableLines(columns, rows, { paint: view.paint, width }) : [];
  return [view.paint("bold", headerOf(sample, view.version)), ...(table.length > 0 ? ["", ...table] : [])];
}

/** At most as many lines as the window has. */
export function windowLines(sample: Sample, view: View, { cols, rows: height }: Window): string[] {
  const rows = sorted(sample.rows, view.sort, view.isReversed);
  const visible = visibleRows(height);
  const first = Math.min(view.scrolled, maxScroll(rows.length, height));
  const look = { paint: view.paint, width: cols, marked: titles[view.sort] };
  // Measures all rows, so that column widths stay the same while scrolling.
  const [head = "", ...body] = tableLines(columns, rows, look);
  const shown =
    rows.length > 0 ? [head, ...body.slice(first, first + visible)] : [view.paint("dim", nothing)];
  const filled = [...shown, ...Array<string>(Math.max(0, visible + 1 - shown.length)).fill("")];
  const hidden = rows.length - Math.min(visible, rows.length - first);
  const more = hidden > 0 ? `   ${hidden} more: up, down` : "";
  const lines = [
    view.paint("bold", cut(headerOf(sample, view.version), cols)),
    "",
    ...filled,
    view.isStale ? view.paint("red", cut(staleLine, cols)) : view.paint("dim", cut(keysLine + more, cols)),
  ];
  return lines.slice(0, height);
}

const nothing = "nothing is running";
/** Header, an empty line, the table's header, the keys. */
const fixedLines = 4;

export const visibleRows = (height: number): number => Math.max(0, height - fixedLines);
export const maxScroll = (rows: number, height: number): number => Math.max(0, rows - visibleRows(height));
