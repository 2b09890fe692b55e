// A program that begins to print as fast as it can costs other clients little, also before it is known to be a flood.
import { expect } from "bun:test";
import { join } from "node:path";
import { startDaemon } from "../support/daemon.ts";
import { needs } from "../support/needs.ts";
import { stallsIn } from "../support/stalls.ts";
import { tempDir } from "../support/temp-dir.ts";
import { newTerminal } from "../support/terminal.ts";
import { until } from "../support/wait.ts";

needs("linux").test("no turn of the event loop is long when a terminal begins to print megabytes", async () => {
  using dir = tempDir();
  const stallFile = join(dir.path, "stalls");
  await using daemon = await startDaemon({
    env: { TRL_STALL_FILE: stallFile, TRL_STALL_MS: "50", TRL_STALL_STACKS: "off" },
  });
  using wire = await daemon.connect();
  for (let i = 0; i < 6; i++) {
    const { id } = await newTerminal(wire, { command: "seq 1000000; exec sleep 1000" });
    await until("all that it prints", async () => {
      const { sessions } = await wire.call("pty.list", {});
      return sessions.some(({ session_id, offset }) => session_id === id && offset >= 7_888_896);
    });
    await wire.call("pty.close", { session_id: id });
  }
  expect(stallsIn(stallFile)).toEqual([]);
});
