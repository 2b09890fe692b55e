// system.ping beside a bare echo: the same line, over the same kind of socket, by the same client.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { leaving } from "../harness/leavings.ts";
import { figure, ratioAtMost, row } from "../harness/rows.ts";
import type { Bench, Scenario } from "../harness/scenario.ts";
import { type Side, takeTurns } from "../harness/side.ts";
import { besideOf, talk } from "../harness/sides.ts";
import { until } from "../harness/until.ts";
import { request } from "../harness/wire.ts";

/** By its name only when it listens: its socket is there a moment before. */
const bunEcho = `Bun.listen({ unix: process.argv[1] + ".new", socket: { data(s, d) { s.write(d); } } });
require("node:fs").renameSync(process.argv[1] + ".new", process.argv[1]);`;
const line = request("system.ping");

export const ping: Scenario = {
  name: "ping",
  about: "a request and its reply, beside a bare echo over a Unix socket",
  async run(bench) {
    const { tools } = bench;
    // All on one core. Left to itself the kernel puts a client beside its server or away from it, which makes more
    // difference (12 us or 50) than what they do, and need not be the same for each.
    await using daemon = await bench.daemon({ prefix: tools.pinned });
    await using c = await echoServer(bench, "c");
    await using bun = await echoServer(bench, "bun");
    await using trl = await client(bench, daemon.socketPath);
    const times = await takeTurns(
      { trl, c: c?.side, bun: bun?.side },
      { count: bench.times(20_000, 3000), blockOf: 500, warmUp: 5000 },
    );
    const common = {
      scenario: "ping",
      name: "system.ping",
      unit: "ms",
      trl: figure(times.trl!.samplesMs),
    } as const;
    return {
      rows: [
        row({
          ...common,
          beside: besideOf("echo in C", tools.native.echo, times.c && figure(times.c.samplesMs)),
          bar: ratioAtMost(2),
        }),
        row({ ...common, beside: { name: "echo in Bun", figure: figure(times.bun!.samplesMs) } }),
      ],
    };
  },
};

const client = (bench: Bench, socketPath: string): Promise<Side> =>
  talk(bench, { socketPath, lines: [line], until: "\n", prefix: bench.tools.pinned });

interface EchoServer extends AsyncDisposable {
  side: Side;
}

async function echoServer(bench: Bench, kind: "c" | "bun"): Promise<EchoServer | undefined> {
  const { echo } = bench.tools.native;
  if (kind === "c" && "missing" in echo) return undefined;
  const socketPath = join(bench.dir, `${kind}.sock`);
  const program = "command" in echo && kind === "c" ? echo.command : [process.execPath, "-e", bunEcho];
  const child = Bun.spawn([...bench.tools.pinned, ...program, socketPath], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const isGone = leaving(() => child.kill());
  await using starting = new AsyncDisposableStack();
  starting.defer(async () => {
    child.kill();
    await child.exited;
    isGone();
  });
  await until(() => existsSync(socketPath));
  const side = starting.use(await client(bench, socketPath));
  const started = starting.move();
  return { side, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
