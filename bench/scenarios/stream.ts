// exec.stream of a flood, beside the same command into a raw pipe; and what it adds to the daemon's memory.
import { residentKb } from "../harness/daemon.ts";
import { atMost, type Row, rateFigure, ratioAtLeast, row } from "../harness/rows.ts";
import type { Bench, Scenario } from "../harness/scenario.ts";
import { besideOf, spawnSide, talk } from "../harness/sides.ts";
import { request } from "../harness/wire.ts";
import { textFile } from "./text-file.ts";

const fileBytes = 10_000_000;
const extraMbMax = 64;

export const stream: Scenario = {
  name: "stream",
  about: "MB/s of a command's output, beside a raw pipe; and the daemon's extra memory",
  async run(bench) {
    const rows: Row[] = [];
    for (const [encoding, bar] of [
      ["utf8", 0.4],
      ["base64", 0.3],
    ] as const) {
      rows.push(...(await flood(bench, encoding, bar)));
    }
    return { rows };
  },
};

async function flood(bench: Bench, encoding: "utf8" | "base64", bar: number): Promise<Row[]> {
  const files = bench.times(30, 10);
  const command = `for i in {1..${files}}; do cat ${textFile(bench, fileBytes)}; done`;
  await using daemon = await bench.daemon();
  using wire = await daemon.connect();
  const { session_id } = await wire.call("session.create", { shell: "/bin/bash", timeout_s: 0 });
  const line = request("exec.stream", { session_id, command, encoding });
  await using trl = await talk(bench, {
    socketPath: daemon.socketPath,
    lines: [line],
    until: '"type":"exit"',
    isAtEnd: true,
  });
  await using pipe = await spawnSide(bench, ["/bin/bash", "-c", command]);
  const before = residentKb(daemon.pid);
  const mine: number[] = [];
  const theirs: number[] = [];
  for (let i = 0; i < bench.times(5, 2); i++) {
    mine.push((files * fileBytes) / 1000 / (await trl.run(1)).samplesMs[0]!);
    if (pipe) theirs.push((files * fileBytes) / 1000 / (await pipe.run(1)).samplesMs[0]!);
  }
  const peak = residentKb(daemon.pid, "VmHWM");
  const name = encoding === "utf8" ? "text" : "base64";
  const speed = row({
    scenario: "stream",
    name,
    unit: "MB/s",
    trl: rateFigure(mine),
    beside: besideOf("raw pipe, read by C", bench.tools.native.spawn, pipe && rateFigure(theirs)),
    bar: ratioAtLeast(bar),
  });
  if (before === undefined || peak === undefined) return [speed];
  const extra = { p50: Math.max(0, peak - before) / 1000 };
  const memory = { scenario: "stream", name: `${name}: extra memory`, unit: "MB", trl: extra } as const;
  return [speed, row({ ...memory, bar: atMost(extraMbMax) })];
}
