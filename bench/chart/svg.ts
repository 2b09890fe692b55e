// The panels as one SVG that can be read on a light page and on a dark one.
import type { Panel, PanelBar } from "./panels.ts";

const width = 880;
const columns = 2;
const margin = 20;
const gutter = 40;
const columnWidth = (width - 2 * margin - gutter) / columns;
const nameWidth = 176;
const labelWidth = 74;
const barHeight = 14;
const lineHeight = 21;
const titleHeight = 26;
const panelGap = 18;

const style = `
  svg { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; color-scheme: light dark; }
  text { fill: #24292f; } .dim { fill: #6e7781; } .title { font-weight: 600; font-size: 13px; }
  .trl { fill: #0f7b6c; } .peer { fill: #c3cad2; } text.trl { font-weight: 600; fill: #0f7b6c; }
  .value { font-variant-numeric: tabular-nums; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .dim { fill: #8b949e; }
    .trl, text.trl { fill: #3fcfb4; } .peer { fill: #4a535e; }
  }`;

/** What it says of the machine stands below. */
export function chartSvg(panels: Panel[], machine: string): string {
  const rows = chunks(panels, columns);
  let y = margin;
  const parts = rows.flatMap((row) => {
    const drawn = row.map((panel, at) => drawPanel(panel, margin + at * (columnWidth + gutter), y));
    y += Math.max(...row.map(panelHeight)) + panelGap;
    return drawn;
  });
  parts.push(text(margin, y + 8, `Medians unless it says otherwise. ${machine}`, "dim"));
  const height = y + margin + 4;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="trl beside its peers">
<style>${style}
</style>
${parts.join("\n")}
</svg>
`;
}

const panelHeight = ({ bars }: Panel): number => titleHeight + bars.length * lineHeight;

function drawPanel({ title, isMoreBetter, bars }: Panel, x: number, y: number): string {
  const most = Math.max(...bars.map(({ value }) => value));
  const better = isMoreBetter ? "more is better" : "less is better";
  return [
    text(x, y + 12, title, "title"),
    text(x + columnWidth, y + 12, better, "dim", "end"),
    ...bars.map((bar, at) => drawBar(bar, x, y + titleHeight + at * lineHeight, bar.value / most)),
  ].join("\n");
}

function drawBar({ name, label, isTrl }: PanelBar, x: number, y: number, part: number): string {
  const room = columnWidth - nameWidth - labelWidth;
  const length = Math.max(1, part * room).toFixed(1);
  const kind = isTrl ? "trl" : "peer";
  return [
    text(x, y + barHeight - 3, name, isTrl ? "trl" : "dim"),
    `<rect class="${kind}" x="${x + nameWidth}" y="${y}" width="${length}" height="${barHeight}" rx="2"/>`,
    text(x + nameWidth + Number(length) + 6, y + barHeight - 3, label, isTrl ? "value trl" : "value"),
  ].join("\n");
}

function text(x: number, y: number, content: string, kind: string, anchor = "start"): string {
  const escaped = content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<text class="${kind}" x="${x}" y="${y}" text-anchor="${anchor}">${escaped}</text>`;
}

const chunks = <T>(all: T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));
