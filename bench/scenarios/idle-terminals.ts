// What terminals cost that rest, with 2000 lines of history, with both drivers.
import { type DriverName, driverNames } from "../../src/protocol/pty.ts";
import { atMost, type Row, row } from "../harness/rows.ts";
import type { Bench, Scenario } from "../harness/scenario.ts";
import { idleCost } from "./idle-cost.ts";

const scenario = "idle-terminals";
/** For half a minute after the last work the engine collects garbage each second, and at rest each half minute. */
const restMs = 40_000;
const command = `for i in {1..2000}; do echo ${"x".repeat(60)} $i; done; exec sleep 1000`;

export const idleTerminals: Scenario = {
  name: scenario,
  about: "memory and CPU of terminals that rest, with 2000 lines of history",
  async run(bench) {
    const rows: Row[] = [];
    for (const driver of driverNames) rows.push(...(await rest(bench, driver)));
    return { rows };
  },
};

async function rest(bench: Bench, driver: DriverName): Promise<Row[]> {
  const count = bench.times(200, 50);
  await using daemon = await bench.daemon({ flags: ["--pty-driver", driver] });
  using wire = await daemon.connect();
  const cost = await idleCost(
    bench,
    daemon,
    count,
    async () => {
      const { session_id } = await wire.call("pty.create", { command });
      await wire.call("pty.wait", { session_id, until: { text: " 2000" }, timeout_s: 30 });
    },
    restMs,
  );
  if (!cost) return [];
  const isBound = driver === "native";
  return [
    row({
      scenario,
      name: `memory of each, ${driver}`,
      unit: "KB",
      trl: { p50: cost.eachKb, count },
      ...(isBound && { bar: atMost(300) }),
    }),
    row({
      scenario,
      name: `${count} of them, part of a core, ${driver}`,
      unit: "%",
      trl: { p50: cost.cpuPercent },
      ...(isBound && { bar: atMost(0.5) }),
    }),
  ];
}
