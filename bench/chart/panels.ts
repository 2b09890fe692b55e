// What the chart shows of a run: a few panels, each trl beside its peers in one thing.
import { formatValue } from "../harness/format.ts";
import type { Report } from "../harness/report.ts";
import type { Row } from "../harness/rows.ts";

export interface PanelBar {
  name: string;
  value: number;
  label: string;
  isTrl: boolean;
}

export interface Panel {
  title: string;
  isMoreBetter: boolean;
  bars: PanelBar[];
}

interface PanelSpec {
  title: string;
  scenario: string;
  row: string;
  at?: "p50" | "p99";
}

const specs: PanelSpec[] = [
  { title: "a builtin in a warm session", scenario: "exec-warm", row: "builtin" },
  { title: "/bin/true in a warm session", scenario: "exec-warm", row: "external" },
  { title: "32 sessions at once", scenario: "exec-at-once", row: "builtin" },
  { title: "a stream of text", scenario: "stream", row: "text" },
  { title: "echo of a keystroke", scenario: "terminal-echo", row: "quiet" },
  { title: "echo beside four floods, p99", scenario: "terminal-echo", row: "beside 4 floods", at: "p99" },
  { title: "output of a terminal", scenario: "terminal-throughput", row: "native" },
  { title: "ping", scenario: "ping", row: "system.ping" },
];

export const panelsOf = (report: Report): Panel[] =>
  specs.flatMap((spec) => {
    const rows = sameThing(report.rows, spec);
    return rows.length === 0 ? [] : [panelOf(spec, rows)];
  });

/** The first row that is meant, and those that have other peers for it. */
function sameThing(rows: Row[], { scenario, row }: PanelSpec): Row[] {
  const first = rows.find((each) => each.scenario === scenario && each.name.includes(row));
  return rows.filter((each) => each.scenario === scenario && each.name === first?.name);
}

function panelOf({ title, at = "p50" }: PanelSpec, rows: Row[]): Panel {
  const { unit, trl } = rows[0]!;
  const bar = (name: string, value: number, isTrl = false): PanelBar => ({
    name,
    value,
    label: formatValue(value, unit),
    isTrl,
  });
  const peers = rows.flatMap(({ beside }) =>
    beside && "p50" in beside ? [bar(beside.name, beside[at] ?? beside.p50)] : [],
  );
  return {
    title,
    isMoreBetter: unit === "MB/s" || unit === "/s",
    bars: [bar("trl", trl[at] ?? trl.p50, true), ...peers],
  };
}
