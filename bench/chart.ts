// `bun run bench:chart [FILE]` makes the chart and the tables of docs/performance.md from the JSON of a run.
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { machineLine, withFigures } from "./chart/page.ts";
import { panelsOf } from "./chart/panels.ts";
import { chartSvg } from "./chart/svg.ts";
import type { Report } from "./harness/report.ts";

const docs = join(import.meta.dir, "../docs");
const kept = join(docs, "benchmark.json");
const page = join(docs, "performance.md");

const given = resolve(process.argv[2] ?? kept);
if (JSON.parse(readFileSync(given, "utf8")).is_loaded) throw new Error("the figures are of a loaded machine");
if (given !== kept) copyFileSync(given, kept);
const report: Report = JSON.parse(readFileSync(kept, "utf8"));
writeFileSync(join(docs, "benchmark.svg"), chartSvg(panelsOf(report), machineLine(report)));
writeFileSync(page, withFigures(readFileSync(page, "utf8"), report));
console.log("docs/benchmark.json, docs/benchmark.svg and the tables of docs/performance.md are made");
