// How long a keystroke takes to come back from `cat`, beside tmux: in a quiet place, and beside four floods.
import type { DriverName } from "../../src/protocol/pty.ts";
import type { Daemon } from "../harness/daemon.ts";
import { atMost, type Figure, figure, type Row, ratioAtMost, row } from "../harness/rows.ts";
import type { Bench, Scenario } from "../harness/scenario.ts";
import { takeTurns } from "../harness/side.ts";
import { besideOf } from "../harness/sides.ts";
import { Tmux } from "../harness/tmux.ts";
import { trlTypist } from "./typist.ts";

const scenario = "terminal-echo";
const pauseMs = 3;
/**
 * Where the engine might compile, on threads that compete for the processors, there are rows of their own: the
 * very first keys, and those some thousands later, when it has found out what is worth to be compiled once more.
 */
const warmUpKeys = 200;
const laterKeys = { from: 2000, to: 5000 };
/** The slowest hundredth of one daemon's keys is what a few of them happened to meet. */
const daemons = 3;
const floods = 4;
const floodCommand = "yes a line of ordinary text that goes on and on";
const besideFloodsP99Ms = 15;

export const terminalEcho: Scenario = {
  name: scenario,
  about: "the echo of a keystroke, in a quiet place and beside four floods",
  async run(bench) {
    const firstKeys = bench.times(1000, 200);
    const fresh = await quietEcho(bench, { pauseMs: 0, warmUp: 0, count: firstKeys });
    const later = await quietEcho(bench, {
      pauseMs: 0,
      before: bench.times(laterKeys.from, 500),
      warmUp: 0,
      count: bench.times(laterKeys.to - laterKeys.from, 200),
    });
    const warm = { warmUp: bench.times(warmUpKeys, 50), count: bench.times(2000, 200) };
    const quiet = await quietEcho(bench, { ...warm, pauseMs });
    const hasty = await quietEcho(bench, { ...warm, pauseMs: 0 });
    const loud = { trl: await trlBeside(bench, floods), tmux: await tmuxBeside(bench, floods) };
    const tmux = (figure: Figure | undefined) => besideOf("tmux", bench.tools.tmux, figure);
    const both = (name: string, { trl, tmux: peer }: Echo): Row[] => {
      const common = { scenario, unit: "ms", trl, beside: tmux(peer) } as const;
      return [
        row({ ...common, name, bar: ratioAtMost(1) }),
        row({ ...common, name: `${name}: the tail`, bar: ratioAtMost(1, "p99") }),
      ];
    };
    const unjudged = (name: string, { trl, tmux: peer }: Echo): Row =>
      row({ scenario, unit: "ms", name, trl, beside: tmux(peer) });
    return {
      rows: [
        ...both("quiet", quiet),
        ...both("key after key", hasty),
        unjudged(`the first ${firstKeys} keys`, fresh),
        unjudged(`keys ${laterKeys.from} to ${laterKeys.to}`, later),
        row({
          scenario,
          name: "quiet, bun-pty",
          unit: "ms",
          trl: await bunPty(bench),
          beside: tmux(quiet.tmux),
        }),
        ...both("beside 4 floods", loud),
        row({
          scenario,
          name: "beside 4 floods: p99",
          unit: "ms",
          trl: loud.trl,
          bar: atMost(besideFloodsP99Ms, "p99"),
        }),
      ],
    };
  },
};

interface Echo {
  trl: Figure;
  tmux: Figure | undefined;
}

/**
 * They take turns, with several daemons one after the other. Floods of one side must not disturb the other, so beside
 * those each has its own time.
 */
async function quietEcho(
  bench: Bench,
  { before = 0, ...turns }: { before?: number; pauseMs: number; warmUp: number; count: number },
): Promise<Echo> {
  const samples: Record<"trl" | "tmux", number[]> = { trl: [], tmux: [] };
  for (let i = 0; i < bench.times(daemons, 1); i++) {
    await using daemon = await bench.daemon();
    await using tmux = Tmux.start(bench);
    if (before > 0) await typeElsewhere(bench, daemon, before);
    await using trl = await trlTypist(bench, daemon);
    await using peer = await tmux?.typist(bench);
    const times = await takeTurns({ trl, peer }, { ...turns, blockOf: 50 });
    samples.trl.push(...times.trl!.samplesMs);
    samples.tmux.push(...(times.peer?.samplesMs ?? []));
  }
  return { trl: figure(samples.trl), tmux: samples.tmux.length > 0 ? figure(samples.tmux) : undefined };
}

/** In a terminal of its own: a line holds 4095 keys, and what is typed then is a bell. */
async function typeElsewhere(bench: Bench, daemon: Daemon, keys: number): Promise<void> {
  await using typist = await trlTypist(bench, daemon);
  await typist.run(keys);
}

async function trlBeside(bench: Bench, floodCount: number): Promise<Figure> {
  await using daemon = await bench.daemon();
  using wire = await daemon.connect();
  await using trl = await trlTypist(bench, daemon);
  await trl.run(2000);
  for (let i = 0; i < floodCount; i++) await wire.call("pty.create", { command: floodCommand });
  await Bun.sleep(bench.times(1000, 200));
  return figure((await trl.run(bench.times(1000, 150), pauseMs)).samplesMs);
}

async function tmuxBeside(bench: Bench, floodCount: number): Promise<Figure | undefined> {
  await using tmux = Tmux.start(bench);
  if (!tmux) return undefined;
  await using peer = await tmux.typist(bench);
  for (let i = 0; i < floodCount; i++) await tmux.newSession(`flood${i}`, floodCommand);
  await Bun.sleep(bench.times(1000, 200));
  return figure((await peer.run(bench.times(1000, 150), pauseMs)).samplesMs);
}

/** By itself: it is never still, and would disturb the others. */
async function bunPty(bench: Bench): Promise<Figure> {
  await using daemon = await bench.daemon();
  await using typist = await trlTypist(bench, daemon, { driver: "bun-pty" satisfies DriverName });
  return figure((await typist.run(bench.times(300, 50), pauseMs)).samplesMs);
}
