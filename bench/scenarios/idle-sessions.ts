// What exec sessions cost that rest, each after one command.
import { atMost, row } from "../harness/rows.ts";
import type { Scenario } from "../harness/scenario.ts";
import { idleCost } from "./idle-cost.ts";

const scenario = "idle-sessions";

export const idleSessions: Scenario = {
  name: scenario,
  about: "memory and CPU of exec sessions that rest",
  async run(bench) {
    const count = bench.times(5000, 300);
    await using daemon = await bench.daemon();
    using wire = await daemon.connect();
    const cost = await idleCost(bench, daemon, count, async () => {
      const { session_id } = await wire.call("session.create", { shell: "/bin/bash" });
      await wire.call("exec.run", { session_id, command: "cd /; x=1" });
    });
    if (!cost) return { rows: [] };
    return {
      rows: [
        row({
          scenario,
          name: "memory of each",
          unit: "KB",
          trl: { p50: cost.eachKb, count },
          bar: atMost(20),
        }),
        row({ scenario, name: `${count} of them, part of a core`, unit: "%", trl: { p50: cost.cpuPercent } }),
      ],
    };
  },
};
