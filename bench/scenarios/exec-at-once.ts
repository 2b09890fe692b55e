// 32 sessions that all have a command under way, beside 32 workers that each spawn `bash -c`.
import { type Row, rateFigure, ratioAtLeast, row } from "../harness/rows.ts";
import type { Bench, Scenario } from "../harness/scenario.ts";
import type { Side } from "../harness/side.ts";
import { besideOf, spawnSide, talk } from "../harness/sides.ts";
import { request } from "../harness/wire.ts";

const sessions = 32;

export const execAtOnce: Scenario = {
  name: "exec-at-once",
  about: `commands a second with ${sessions} sessions busy at a time`,
  async run(bench) {
    const rows = [
      await atOnce(bench, "builtin (echo hello)", "echo hello"),
      await atOnce(bench, "external (/bin/true)", "/bin/true"),
    ];
    return { rows };
  },
};

async function atOnce(bench: Bench, name: string, command: string): Promise<Row> {
  await using daemon = await bench.daemon();
  using wire = await daemon.connect();
  const lines: string[] = [];
  for (let i = 0; i < sessions; i++) {
    const { session_id } = await wire.call("session.create", { shell: "/bin/bash" });
    lines.push(request("exec.run", { session_id, command }));
  }
  await using trl = await talk(bench, { socketPath: daemon.socketPath, lines, until: "\n" });
  await using c = await spawnSide(bench, ["/bin/bash", "-c", command], sessions);
  const [mine, theirs] = await rates(bench, trl, c);
  return row({
    scenario: "exec-at-once",
    name,
    unit: "/s",
    trl: rateFigure(mine),
    beside: besideOf(
      `bash -c by ${sessions} workers in C`,
      bench.tools.native.spawn,
      theirs && rateFigure(theirs),
    ),
    bar: ratioAtLeast(0.6),
  });
}

/** A block gives one rate. */
async function rates(
  bench: Bench,
  trl: Side,
  c: Side | undefined,
): Promise<[number[], number[] | undefined]> {
  const blockOf = sessions * 10;
  await trl.run(sessions * 2);
  const mine: number[] = [];
  const theirs: number[] = [];
  for (let i = 0; i < bench.times(9, 2); i++) {
    mine.push((blockOf / (await trl.run(blockOf)).wallMs) * 1000);
    if (c) theirs.push((blockOf / (await c.run(blockOf)).wallMs) * 1000);
  }
  return [mine, c && theirs];
}
