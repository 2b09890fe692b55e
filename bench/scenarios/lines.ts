// Lines as agents write them: lists, pipes, loops, conditions and substitutions, which are neither one builtin nor one
// program. They are run in turn, beside a spawn of `bash -c` for each, on a quiet machine and beside busy loops.
import { busyLoops } from "../harness/busy-loops.ts";
import { figure, type Row, ratioAtMost, row } from "../harness/rows.ts";
import type { Bench, Scenario } from "../harness/scenario.ts";
import type { Block, Side } from "../harness/side.ts";
import { besideOf, spawnInTurnSide, talk } from "../harness/sides.ts";
import { request } from "../harness/wire.ts";

interface Setup {
  scenario: string;
  sessions: number;
  /** How many lines are under way at a time. */
  atOnce: number;
  pauseMs: number;
  /** Lines in a block, and blocks of each side. */
  blockOf: number;
  blocks: number;
  bar: number;
}

const linesIn = (dir: string): string[] => [
  `cd ${dir} && ls`,
  "printf 'b\\na\\n' | sort | head -n 1",
  "for i in 1 2 3; do echo $i; done",
  `test -d ${dir} && echo yes`,
  "X=$(uname) && echo $X",
];

/** An agent thinks between two lines, for much longer than this. */
const pauseMs = 10;

export const linesAlone: Scenario = {
  name: "lines-alone",
  about: "a list, a pipe, a loop, a condition and a substitution in turn, with 10 ms between them",
  run: (bench) =>
    quietAndLoaded(bench, {
      ...{ scenario: "lines-alone", sessions: 1, atOnce: 1, pauseMs },
      ...{ blockOf: 20, blocks: bench.times(15, 2), bar: 1.1 },
    }),
};

export const linesAtOnce: Scenario = {
  name: "lines-at-once",
  about: "such lines in 16 sessions at a time, without a pause",
  run: (bench) =>
    quietAndLoaded(bench, {
      ...{ scenario: "lines-at-once", sessions: 16, atOnce: 16, pauseMs: 0 },
      ...{ blockOf: 160, blocks: bench.times(9, 2), bar: 1.5 },
    }),
};

export const linesOverSessions: Scenario = {
  name: "lines-over-sessions",
  about: "such lines, 16 at a time, each in the next of 1000 sessions",
  run: (bench) =>
    quietAndLoaded(bench, {
      ...{ scenario: "lines-over-sessions", sessions: bench.times(1000, 200), atOnce: 16, pauseMs: 0 },
      ...{ blockOf: 500, blocks: bench.times(5, 1), bar: 2 },
    }),
};

async function quietAndLoaded(bench: Bench, setup: Setup) {
  await using daemon = await bench.daemon();
  using wire = await daemon.connect();
  const lines = linesIn(bench.dir);
  const ids: string[] = [];
  for (let i = 0; i < setup.sessions; i++)
    ids.push((await wire.call("session.create", { shell: "/bin/bash" })).session_id);
  // Session by session, so that all of them run a line before one runs the next.
  const requests = lines.flatMap((_, turn) =>
    ids.map((session_id, at) =>
      request("exec.run", { session_id, command: lines[(turn + at) % lines.length]! }),
    ),
  );
  const { socketPath } = daemon;
  await using trl = await talk(bench, { socketPath, lines: requests, peers: setup.atOnce, until: "\n" });
  const bare = lines.map((line) => ["/bin/bash", "-c", line]);
  await using c = await spawnInTurnSide(bench, bare, setup.atOnce);
  const rows = [await compare(bench, setup, trl, c, "quiet")];
  using _load = busyLoops(2);
  rows.push(await compare(bench, setup, trl, c, "beside 2 busy loops"));
  return { rows };
}

async function compare(
  { tools }: Bench,
  { scenario, atOnce, blockOf, blocks, bar, ...setup }: Setup,
  trl: Side,
  c: Side | undefined,
  name: string,
): Promise<Row> {
  const block = async (side: Side | undefined) =>
    side && eachMs(await side.run(blockOf, setup.pauseMs), atOnce);
  const mine: number[] = [];
  const theirs: number[] = [];
  await block(trl);
  await block(c);
  for (let i = 0; i < blocks; i++) {
    mine.push((await block(trl))!);
    theirs.push(...[(await block(c)) ?? []].flat());
  }
  return row({
    ...{ scenario, name, unit: "ms", trl: figure(mine) },
    beside: besideOf(
      atOnce === 1 ? "bash -c by C" : `bash -c by ${atOnce} workers in C`,
      tools.native.spawn,
      c && figure(theirs),
    ),
    bar: ratioAtMost(bar),
  });
}

/** What a line of the block took on average: without the pauses, where there are some. */
function eachMs({ wallMs, samplesMs }: Block, atOnce: number): number {
  const ms = atOnce === 1 ? samplesMs.reduce((sum, each) => sum + each, 0) : wallMs;
  return ms / samplesMs.length;
}
