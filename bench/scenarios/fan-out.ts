// One terminal with 1, 8 and 64 subscribers: the echo until the last one has received it, and what a flood costs.
import type { Daemon } from "../harness/daemon.ts";
import { figure, type Growth, growth, type Row, ratioAtMost, row } from "../harness/rows.ts";
import type { Bench, Scenario } from "../harness/scenario.ts";
import { type Side, takeTurns } from "../harness/side.ts";
import { median } from "../harness/statistics.ts";
import { oneFlood } from "./one-flood.ts";
import { textFile } from "./text-file.ts";
import { trlTypist } from "./typist.ts";

const scenario = "fan-out";
const counts = [1, 8, 64] as const;
const costMax = 3;
/** A flood to one takes 0.3 or 0.5 s, as it happens to meet the kernel's thread. */
const floodRounds = 7;

export const fanOut: Scenario = {
  name: scenario,
  about: "one terminal that 1, 8 and 64 clients watch",
  async run(bench) {
    await using daemon = await bench.daemon();
    const echo = await echoTimes(bench, daemon);
    const bytes = bench.times(20_000_000, 4_000_000);
    const flood = await floodTimes(bench, daemon, bytes);
    const floodName = `flood (${bytes / 1e6} MB)`;
    return {
      rows: [...rowsOf("echo to the last of", echo), ...rowsOf(`${floodName} to`, flood)],
      growth: [growthOf("echo to the last", echo), growthOf(floodName, flood)],
    };
  },
};

type Times = Record<number, number[]>;

async function echoTimes(bench: Bench, daemon: Daemon): Promise<Times> {
  const sides: Record<string, Side> = {};
  for (const watchers of counts) sides[watchers] = await trlTypist(bench, daemon, { watchers });
  const times = await takeTurns(sides, {
    count: bench.times(600, 60),
    blockOf: 20,
    pauseMs: 3,
    warmUp: bench.times(500, 100),
  });
  for (const side of Object.values(sides)) await side[Symbol.asyncDispose]();
  return Object.fromEntries(counts.map((count) => [count, times[count]!.samplesMs]));
}

async function floodTimes(bench: Bench, daemon: Daemon, bytes: number): Promise<Times> {
  const file = textFile(bench, bytes);
  const times: Times = Object.fromEntries(counts.map((count) => [count, []]));
  for (let i = 0; i < bench.times(floodRounds, 1); i++) {
    for (const watchers of counts)
      times[watchers]!.push((await oneFlood(bench, daemon, { file, watchers })).ms);
  }
  return times;
}

const rowsOf = (name: string, times: Times): Row[] =>
  counts.slice(1).map((count) =>
    row({
      scenario,
      name: `${name} ${count}`,
      unit: "ms",
      trl: figure(times[count]!),
      beside: { name: "to one", figure: figure(times[1]!) },
      ...(count === counts.at(-1) && { bar: ratioAtMost(costMax) }),
    }),
  );

const growthOf = (name: string, times: Times): Growth =>
  growth({
    scenario,
    name,
    unit: "ms",
    points: counts.map((size) => ({ size, value: median(times[size]!) })),
    of: "subscribers",
    per: 1,
    fromSize: 1,
  });
