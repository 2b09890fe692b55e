// `bun run bench` measures trl beside its floors and peers, and prints the table. Build the executable first.
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { benchAccelerators } from "./accelerators/run.ts";
import { accelerators } from "./accelerators/table.ts";
import { busyLoops } from "./harness/busy-loops.ts";
import { ownBinary, requireFresh, startDaemon } from "./harness/daemon.ts";
import { loadNow, type Report, reportOf } from "./harness/report.ts";
import type { Growth, Row } from "./harness/rows.ts";
import type { Bench, Scenario } from "./harness/scenario.ts";
import { growthTable, resultTable } from "./harness/table.ts";
import { tempDir } from "./harness/temp-dir.ts";
import { findTools } from "./harness/tools.ts";
import { scenarios } from "./scenarios/all.ts";

const usage = `bun run bench [--only A,B] [--quick] [--loaded] [--json FILE] [--trl FILE] [--list]
bun run bench --accelerators [--only A,B] [--trl FILE] [--list]

  --only A,B    only these scenarios, or all whose name begins so
  --quick       fewer rounds: to see whether it works, not how good it is
  --loaded      beside two busy loops, without lines-*, which have their own; the bars are for
                a quiet machine
  --json FILE   write the figures to FILE; the chart and the page are made from them
  --trl FILE    measure this executable instead of dist/trl
  --list        name the scenarios
  --accelerators  each accelerator of src/fast on and off, on a quiet machine and beside two
                busy loops, a few minutes in all; prints the rows of src/fast/README.md
`;

function parse() {
  const options = {
    only: { type: "string" },
    quick: { type: "boolean", default: false },
    loaded: { type: "boolean", default: false },
    json: { type: "string" },
    trl: { type: "string", default: ownBinary },
    list: { type: "boolean", default: false },
    accelerators: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  } as const;
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    process.exit(64);
  }
}

function choose<T extends { name: string }>(from: T[], only: string | undefined): T[] {
  const wanted = only?.split(",").map((name) => name.trim());
  if (!wanted) return from;
  for (const name of wanted) {
    if (from.some((each) => each.name.startsWith(name))) continue;
    console.error(`${name} is not one of them; --list names them`);
    process.exit(64);
  }
  return from.filter(({ name }) => wanted.some((start) => name.startsWith(start)));
}

const benchOf = (binary: string, dir: string, isQuick: boolean): Bench => ({
  tools: findTools(dir),
  binary,
  isQuick,
  dir,
  daemon: (setup = {}) => startDaemon({ binary, ...setup }),
  times: (inFull, whenQuick) => (isQuick ? whenQuick : inFull),
});

async function measure(
  chosen: Scenario[],
  binary: string,
  { isQuick, isLoaded }: { isQuick: boolean; isLoaded: boolean },
): Promise<Report> {
  using dir = tempDir();
  const bench = benchOf(binary, dir.path, isQuick);
  const { tools } = bench;
  using _load = isLoaded ? busyLoops(2) : undefined;
  const rows: Row[] = [];
  const growth: Growth[] = [];
  const failed: string[] = [];
  const loadBefore = loadNow();
  const began = performance.now();
  for (const [at, scenario] of chosen.entries()) {
    say(`${at + 1}/${chosen.length} ${scenario.name}: ${scenario.about}`);
    try {
      const result = await scenario.run(bench);
      rows.push(...result.rows);
      growth.push(...(result.growth ?? []));
    } catch (error) {
      failed.push(`${scenario.name}: ${(error as Error).message}`);
    }
  }
  const durationS = (performance.now() - began) / 1000;
  return reportOf({ tools, isQuick, isLoaded, loadBefore, durationS, rows, growth, failed });
}

/** Progress goes to standard error; standard output is the table. */
function say(text: string): void {
  console.error(text);
}

function print(report: Report): void {
  const { machine, client, missing, rows, growth } = report;
  const judged = rows.filter(({ isMet }) => isMet !== undefined);
  console.log(`\n${resultTable(rows)}`);
  if (growth.length > 0) console.log(growthTable(growth));
  for (const { scenario, name, note } of rows) if (note) console.log(`${scenario}, ${name}: ${note}`);
  for (const what of report.failed) console.log(`failed: ${what}`);
  for (const what of missing) console.log(`missing: ${what}`);
  const met = judged.filter(({ isMet }) => isMet).length;
  console.log(`${met} of ${judged.length} bars met, ${report.duration_s} s, measured by a ${client} client`);
  console.log(`${machine.cores} x ${machine.processor}, ${machine.memory_gb} GB, ${machine.system}`);
  console.log(`load of the machine before the run: ${report.load_before}`);
  if (report.is_loaded) console.log("beside two busy loops: the bars are for a quiet machine");
}

const { only, quick, loaded, json, trl, list, help, accelerators: ofAccelerators } = parse();
if (help) console.log(usage);
else if (ofAccelerators) await runAccelerators();
else await runScenarios();

async function runAccelerators(): Promise<void> {
  const chosen = choose(accelerators, only);
  if (list) return listNames(chosen);
  requireFresh(resolve(trl));
  using dir = tempDir();
  await benchAccelerators(benchOf(resolve(trl), dir.path, true), chosen, say);
}

async function runScenarios(): Promise<void> {
  // The lines-* scenarios have busy loops of their own.
  const all = loaded ? scenarios.filter(({ name }) => !name.startsWith("lines-")) : scenarios;
  const chosen = choose(all, only);
  if (list) return listNames(chosen);
  requireFresh(resolve(trl));
  const report = await measure(chosen, resolve(trl), { isQuick: quick, isLoaded: loaded });
  if (json) writeFileSync(json, `${JSON.stringify(report, null, 2)}\n`);
  print(report);
  if (report.failed.length > 0) process.exitCode = 1;
}

function listNames(all: { name: string; about: string }[]): void {
  for (const { name, about } of all) console.log(`${name.padEnd(22)} ${about}`);
}
