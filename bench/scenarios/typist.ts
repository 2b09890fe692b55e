// Types into a terminal of trl, and records when the echo arrives.
import type { DriverName } from "../../src/protocol/pty.ts";
import type { Daemon } from "../harness/daemon.ts";
import type { Bench } from "../harness/scenario.ts";
import type { Side } from "../harness/side.ts";
import { talk } from "../harness/sides.ts";
import { request } from "../harness/wire.ts";

export const outputMark = '"type":"output"';

/** With so many subscribers, the echo has arrived when the last of them has received it. */
export async function trlTypist(
  bench: Bench,
  { socketPath, connect }: Daemon,
  { driver = "native" as DriverName, watchers = 1 } = {},
): Promise<Side> {
  using wire = await connect();
  const { session_id } = await wire.call("pty.create", { command: "cat", args: [], driver });
  return talk(bench, {
    socketPath,
    hello: { line: request("pty.subscribe", { session_id, replay: "none" }), until: '"ok":true' },
    lines: [request("pty.write", { session_id, data: "x" })],
    until: outputMark,
    watchers,
  });
}
