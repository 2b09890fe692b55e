// The chart and the tables of the page are those of the figures that are kept beside them.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { machineLine, withFigures } from "../../../bench/chart/page.ts";
import { panelsOf } from "../../../bench/chart/panels.ts";
import { chartSvg } from "../../../bench/chart/svg.ts";
import type { Report } from "../../../bench/harness/report.ts";

const docs = join(import.meta.dir, "../../../docs");
const read = (file: string) => readFileSync(join(docs, file), "utf8");
const report: Report = JSON.parse(read("benchmark.json"));

test("the chart", () => {
  expect(read("benchmark.svg")).toBe(chartSvg(panelsOf(report), machineLine(report)));
});

test("the tables", () => {
  const page = read("performance.md");
  expect(withFigures(page, report)).toBe(page);
});

test("they are of a run in full, with all of its peers", () => {
  expect(report).toMatchObject({ is_quick: false, client: "C", missing: [], failed: [] });
});
