// One terminal whose program prints a file and ends, and so many clients that watch it to its end.
import type { DriverName } from "../../src/protocol/pty.ts";
import { cpuSeconds, type Daemon } from "../harness/daemon.ts";
import type { Bench } from "../harness/scenario.ts";
import { talk } from "../harness/sides.ts";
import { request } from "../harness/wire.ts";

export interface FloodSpec {
  file: string;
  watchers: number;
  driver?: DriverName;
}

/** From the keystroke that lets it go to the end of it, received by the last subscriber; and the daemon's part of it. */
export async function oneFlood(
  bench: Bench,
  { socketPath, pid, connect }: Daemon,
  { file, watchers, driver = "native" }: FloodSpec,
): Promise<{ ms: number; cpuMs: number }> {
  using wire = await connect();
  const { session_id } = await wire.call("pty.create", { command: `read go; cat ${file}`, driver });
  await using side = await talk(bench, {
    socketPath,
    hello: { line: request("pty.subscribe", { session_id, replay: "none" }), until: '"ok":true' },
    lines: [request("pty.write", { session_id, data: "\n" })],
    until: '"type":"exit"',
    watchers,
    isAtEnd: true,
  });
  const before = cpuSeconds(pid) ?? 0;
  const { samplesMs } = await side.run(1);
  return { ms: samplesMs[0]!, cpuMs: ((cpuSeconds(pid) ?? 0) - before) * 1000 };
}
