// From the start of the executable to the first connection that is accepted.
import { join } from "node:path";
import { daemonCommand } from "../harness/daemon.ts";
import { atMost, figure, row } from "../harness/rows.ts";
import type { Scenario } from "../harness/scenario.ts";
import { Side, takeTurns } from "../harness/side.ts";
import { besideOf, spawnSide } from "../harness/sides.ts";

export const startup: Scenario = {
  name: "startup",
  about: "from the start of the daemon to the first connection that it accepts",
  async run(bench) {
    const socketPath = join(bench.dir, "startup.sock");
    const command = daemonCommand(bench.binary, socketPath);
    await using trl = await Side.start([...bench.tools.start, socketPath, ...command], {
      TRL_RUNTIME_DIR: bench.dir,
    });
    await using empty = await spawnSide(bench, [process.execPath, "-e", "0"]);
    const times = await takeTurns({ trl, empty }, { count: bench.times(40, 5), blockOf: 5, pauseMs: 5 });
    return {
      rows: [
        row({
          scenario: "startup",
          name: "serve until it accepts",
          unit: "ms",
          trl: figure(times.trl!.samplesMs),
          beside: besideOf(
            "bun -e 0, from start to end",
            bench.tools.native.spawn,
            times.empty && figure(times.empty.samplesMs),
          ),
          bar: atMost(45),
        }),
      ],
    };
  },
};
