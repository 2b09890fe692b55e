// The whole run as one object: what the JSON holds, and what the chart and the page are made from.
import { cpus, loadavg, release, totalmem, type } from "node:os";
import { version } from "../../src/util/version.ts";
import type { Growth, Row } from "./rows.ts";
import { missingTools, type Tools } from "./tools.ts";

export interface Report {
  version: string;
  machine: { system: string; processor: string; cores: number; memory_gb: number };
  /** Of the machine before the run: what others did meanwhile shows in the figures. */
  load_before: number;
  /** Language of the client that sends the requests and takes the times. */
  client: "C" | "Bun";
  is_quick: boolean;
  /** Beside busy loops; the bars are for a quiet machine. */
  is_loaded: boolean;
  duration_s: number;
  missing: string[];
  /** Scenarios that could not be measured, with the reason. */
  failed: string[];
  rows: Row[];
  growth: Growth[];
}

export interface Run {
  tools: Tools;
  isQuick: boolean;
  isLoaded: boolean;
  loadBefore: number;
  durationS: number;
  rows: Row[];
  growth: Growth[];
  failed: string[];
}

export const reportOf = ({
  tools,
  isQuick,
  isLoaded,
  loadBefore,
  durationS,
  rows,
  growth,
  failed,
}: Run): Report => ({
  version,
  machine: {
    system: `${type()} ${release()}`,
    processor: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memory_gb: Math.round(totalmem() / 1e9),
  },
  load_before: Math.round(loadBefore * 10) / 10,
  client: tools.clientIs,
  is_quick: isQuick,
  is_loaded: isLoaded,
  duration_s: Math.round(durationS),
  missing: missingTools(tools),
  failed,
  rows: rows.map((row) => roundAll(row) as Row),
  growth: growth.map((each) => roundAll(each) as Growth),
});

export const loadNow = (): number => loadavg()[0] ?? 0;

/** Four digits are more than the noise leaves. */
function roundAll(value: unknown): unknown {
  if (typeof value === "number") return Number(value.toPrecision(4));
  if (Array.isArray(value)) return value.map(roundAll);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, roundAll(each)]));
}
