// A program that prints a file into a terminal that one client watches, beside tmux, with both drivers.
import { type DriverName, driverNames } from "../../src/protocol/pty.ts";
import type { Daemon } from "../harness/daemon.ts";
import { type Row, rateFigure, ratioAtLeast, row } from "../harness/rows.ts";
import type { Bench, Scenario } from "../harness/scenario.ts";
import { besideOf, floodSide, talkToProgram } from "../harness/sides.ts";
import { Tmux } from "../harness/tmux.ts";
import { oneFlood } from "./one-flood.ts";
import { textFile } from "./text-file.ts";

const scenario = "terminal-throughput";

export const terminalThroughput: Scenario = {
  name: scenario,
  about: "MB/s of a program that prints, to one subscriber",
  async run(bench) {
    const bytes = bench.times(50_000_000, 5_000_000);
    const file = textFile(bench, bytes);
    const warmUp = textFile(bench, bench.times(20_000_000, 1_000_000));
    const mbPerS = (ms: number) => bytes / 1000 / ms;
    await using daemon = await bench.daemon();
    await using bare = await floodSide(bench, ["cat", file]);
    const rates: Record<DriverName | "tmux" | "bare", number[]> = {
      native: [],
      "bun-pty": [],
      tmux: [],
      bare: [],
    };
    for (const driver of driverNames) await trlFlood(bench, daemon, driver, warmUp);
    for (let i = 0; i < bench.times(7, 1); i++) {
      for (const driver of driverNames)
        rates[driver].push(mbPerS(await trlFlood(bench, daemon, driver, file)));
      if ("command" in bench.tools.tmux) rates.tmux.push(mbPerS(await tmuxFlood(bench, file)));
      if (bare) rates.bare.push(mbPerS((await bare.run(1)).wallMs));
    }
    const shown = (of: number[]) => (of.length > 0 ? rateFigure(of) : undefined);
    const beside = besideOf("tmux", bench.tools.tmux, shown(rates.tmux));
    const floor = besideOf("bare reader in C", bench.tools.native.flood, shown(rates.bare));
    const rows = driverNames.flatMap((driver): Row[] => {
      const trl = rateFigure(rates[driver]);
      const common = { scenario, name: `${bytes / 1e6} MB, ${driver}`, unit: "MB/s", trl } as const;
      const bar = driver === "native" && { bar: ratioAtLeast(3) };
      return [row({ ...common, beside, ...bar }), row({ ...common, beside: floor })];
    });
    return { rows };
  },
};

async function trlFlood(bench: Bench, daemon: Daemon, driver: DriverName, file: string): Promise<number> {
  return (await oneFlood(bench, daemon, { driver, file, watchers: 1 })).ms;
}

/** The session ends with its program, and tmux with its only session. */
async function tmuxFlood(bench: Bench, file: string): Promise<number> {
  await using tmux = Tmux.start(bench)!;
  await using side = await talkToProgram(bench, tmux.controlCommand(`read go; cat ${file}`), {
    hello: { line: "display-message -p hello", until: "hello" },
    lines: ["send-keys Enter"],
    until: "%exit",
    isAtEnd: true,
  });
  return (await side.run(1)).samplesMs[0]!;
}
