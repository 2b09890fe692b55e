// Shells that wait ahead of their commands: a bounded number of them, whatever the number of sessions.
import { expect, test } from "bun:test";
import { warmShellsMax } from "../../src/core/limits.ts";
import { startDaemon } from "../support/daemon.ts";
import { listProcesses } from "../support/processes.ts";
import { until } from "../support/wait.ts";

test("are kept for the sessions that were used last, and all sessions work", async () => {
  await using daemon = await startDaemon({ flags: ["--max-sessions", "1000"] });
  using wire = await daemon.connect();
  const shells = () => listProcesses().filter(({ ppid }) => ppid === daemon.pid).length;
  const sessions: string[] = [];
  for (let i = 0; i < warmShellsMax + 20; i++)
    sessions.push((await wire.call("session.create", { shell: "/bin/bash" })).session_id);
  await until("the shells ahead", () => shells() === warmShellsMax);
  // The last ones have none, and get one by being used; those that rest give theirs back.
  for (const session_id of sessions.slice(-20)) {
    await wire.call("exec.run", { session_id, command: "x=kept" });
    const { stdout } = await wire.call("exec.run", { session_id, command: 'echo "$x"' });
    expect(stdout).toBe("kept\n");
  }
  await until("no more than there may be", () => shells() === warmShellsMax);
  const { stdout } = await wire.call("exec.run", { session_id: sessions[0]!, command: "echo still here" });
  expect(stdout).toBe("still here\n");
});
