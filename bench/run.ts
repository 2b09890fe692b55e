// `bun run bench [NAME...]` prints the side-by-side table. Build the executable first.
import { benchExecRun } from "./exec-run.ts";
import { benchPing } from "./ping.ts";
import { benchStartup } from "./startup.ts";
import { benchStream } from "./stream.ts";
import type { Row } from "./support.ts";
import { benchTerminal } from "./terminal.ts";

const entries: Record<string, () => Promise<Row[]>> = {
  startup: benchStartup,
  ping: benchPing,
  "exec-run": benchExecRun,
  stream: benchStream,
  terminal: benchTerminal,
};

const wanted = process.argv.slice(2);
const rows: Row[] = [];
for (const [name, bench] of Object.entries(entries)) {
  if (wanted.length === 0 || wanted.includes(name)) rows.push(...(await bench()));
}
const cells = rows.map((row) => [
  row.what,
  row.measured,
  row.floor,
  row.ratio.toFixed(2),
  row.goal,
  row.isMet ? "met" : "MISSED",
]);
const header = ["what", "trl", "floor", "ratio", "goal", ""];
const widths = header.map((_, column) => Math.max(...[header, ...cells].map((row) => row[column]!.length)));
for (const row of [header, ...cells]) {
  console.log(
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd(),
  );
}
