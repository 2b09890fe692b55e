// exec.run in one session, command after command, beside a spawn of `bash -c` for each.
import { figure, type Row, ratioAtMost, row } from "../harness/rows.ts";
import type { Bench, Scenario } from "../harness/scenario.ts";
import { type Block, takeTurns } from "../harness/side.ts";
import { besideOf, nodeSide, pythonSide, spawnSide, talk } from "../harness/sides.ts";
import { request } from "../harness/wire.ts";

interface Kind {
  name: string;
  command: string;
  bar: number;
}

/** An agent thinks between two commands, for much longer than this. */
const pauseMs = 10;

export const execWarm: Scenario = {
  name: "exec-warm",
  about: "commands with 10 ms between them: the next shell has had time to be ready",
  run: (bench) =>
    execInTurn(bench, "exec-warm", pauseMs, [
      { name: "builtin (echo hello)", command: "echo hello", bar: 0.5 },
      { name: "assignment (x=1)", command: "x=1", bar: 0.5 },
      { name: "external (/bin/true)", command: "/bin/true", bar: 1.1 },
    ]),
};

export const execBackToBack: Scenario = {
  name: "exec-back-to-back",
  about: "commands without a pause: the next shell is started in the same time",
  run: (bench) =>
    execInTurn(bench, "exec-back-to-back", 0, [
      { name: "builtin (echo hello)", command: "echo hello", bar: 1.3 },
      { name: "external (/bin/true)", command: "/bin/true", bar: 1.6 },
    ]),
};

async function execInTurn(bench: Bench, scenario: string, pause: number, kinds: Kind[]) {
  const rows: Row[] = [];
  for (const kind of kinds) rows.push(...(await execOne(bench, scenario, pause, kind)));
  return { rows };
}

async function execOne(bench: Bench, scenario: string, pause: number, kind: Kind): Promise<Row[]> {
  const { tools } = bench;
  await using daemon = await bench.daemon();
  using wire = await daemon.connect();
  const { session_id } = await wire.call("session.create", { shell: "/bin/bash" });
  const line = request("exec.run", { session_id, command: kind.command });
  const bare = ["/bin/bash", "-c", kind.command];
  await using trl = await talk(bench, { socketPath: daemon.socketPath, lines: [line], until: "\n" });
  await using c = await spawnSide(bench, bare);
  await using python = await pythonSide(bench, bare);
  await using node = await nodeSide(bench, bare);
  const times = await takeTurns(
    { trl, c, python, node },
    { count: bench.times(260, 40), blockOf: 20, pauseMs: pause, warmUp: bench.times(20, 10) },
  );
  const common = { scenario, name: kind.name, unit: "ms", trl: figure(times.trl!.samplesMs) } as const;
  const shown = (block: Block | undefined) => block && figure(block.samplesMs);
  return [
    row({
      ...common,
      beside: besideOf("bash -c by C", tools.native.spawn, shown(times.c)),
      bar: ratioAtMost(kind.bar),
    }),
    row({ ...common, beside: besideOf("subprocess.run (Python)", tools.python, shown(times.python)) }),
    row({ ...common, beside: besideOf("child_process (Node.js)", tools.node, shown(times.node)) }),
  ];
}
