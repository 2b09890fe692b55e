// What one session costs to make, to list, to run in and to end, with 10 to 5000 others that are not involved.
import { figure, type Growth, growth, ratioAtMost, row } from "../harness/rows.ts";
import type { Bench, Scenario } from "../harness/scenario.ts";
import { median } from "../harness/statistics.ts";
import { request, type Wire } from "../harness/wire.ts";

const scenario = "churn";
const referenceSize = 100;
const withinMax = 1.3;
const operations = ["create", "list", "run", "destroy"] as const;
type Operation = (typeof operations)[number];
type Times = Record<Operation, number[]>;

/** A daemon that has fewer sessions by then is measured as it is, and named by the number that it has. */
const fillSecondsMax = 60;

interface Place {
  size: number;
  wire: Wire;
  times: Times;
}

export const churn: Scenario = {
  name: scenario,
  about: "create, list, run and destroy beside 10, 100, 1000 and 5000 sessions",
  async run(bench) {
    await using stack = new AsyncDisposableStack();
    const places: Place[] = [];
    for (const size of bench.isQuick ? [10, 100, 500] : [10, 100, 1000, 5000]) {
      places.push(await fill(bench, size, stack));
    }
    const reference = places.find(({ size }) => size === referenceSize)!;
    for (const place of places) await goRound(place, bench.times(30, 5));
    for (const place of places) place.times = emptyTimes();
    for (let i = 0; i < bench.times(16, 3); i++) {
      for (const place of places) await goRound(place, bench.times(15, 5));
    }
    return {
      rows: operations.flatMap((operation) =>
        places
          .filter((place) => place.size > referenceSize)
          .map((place) => rowOf(operation, place, reference)),
      ),
      growth: operations.map((operation) => growthOf(operation, places)),
    };
  },
};

const emptyTimes = (): Times => ({ create: [], list: [], run: [], destroy: [] });

async function fill(bench: Bench, size: number, stack: AsyncDisposableStack): Promise<Place> {
  const daemon = stack.use(await bench.daemon());
  const wire = stack.use(await daemon.connect());
  const end = performance.now() + fillSecondsMax * 1000;
  let made = 0;
  while (made < size && performance.now() < end) {
    await wire.call("session.create", { shell: "/bin/bash" });
    made++;
  }
  return { size: made, wire, times: emptyTimes() };
}

/** The list is of all sessions, so its cost is that of each one listed. */
async function goRound({ size, wire, times }: Place, count: number): Promise<void> {
  const create = request("session.create", { shell: "/bin/bash" });
  for (let i = 0; i < count; i++) {
    const created = await timed(wire, create);
    const session_id = /s-[0-9a-f]{8}/.exec(created.line.toString())![0];
    await Bun.sleep(5);
    const ran = await timed(wire, request("exec.run", { session_id, command: "echo hello" }));
    const destroyed = await timed(wire, request("session.destroy", { session_id }));
    times.create.push(created.ms);
    times.run.push(ran.ms);
    times.destroy.push(destroyed.ms);
  }
  const listed = await timed(wire, request("session.list"));
  times.list.push(listed.ms / size);
}

async function timed(wire: Wire, line: string): Promise<{ line: Buffer; ms: number }> {
  const began = performance.now();
  const answer = await wire.ask(line);
  return { line: answer, ms: performance.now() - began };
}

const rowOf = (operation: Operation, { size, times }: Place, reference: Place) =>
  row({
    scenario,
    name: `${operation}, with ${size} sessions${operation === "list" ? ", for each" : ""}`,
    unit: "ms",
    trl: figure(times[operation]),
    beside: { name: `with ${referenceSize}`, figure: figure(reference.times[operation]) },
    bar: ratioAtMost(withinMax),
  });

const growthOf = (operation: Operation, places: Place[]): Growth =>
  growth({
    scenario,
    name: operation === "list" ? "list, for each session" : operation,
    unit: "ms",
    points: places.map(({ size, times }) => ({ size, value: median(times[operation]) })),
    of: "sessions",
    per: 1000,
    fromSize: referenceSize,
  });
