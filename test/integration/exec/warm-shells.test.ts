// Warm shells: a bounded number of them, whatever the number of sessions.
import { expect } from "bun:test";
import { warmShells } from "../../../src/core/limits.ts";
import { startDaemon } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { listProcesses } from "../../support/processes.ts";
import { binary } from "../../support/program.ts";
import { until } from "../../support/wait.ts";

/** With so few descriptors it is they that bound the number. */
const descriptors = 800;
const shellsMax = Math.floor((descriptors * warmShells.descriptorsPart) / warmShells.descriptorsEach);

needs("warm-shells").test(
  "are kept for the sessions that were used last, and all sessions work",
  async () => {
    await using daemon = await startDaemon({
      flags: ["--max-sessions", "1000"],
      program: ["/bin/sh", "-c", `ulimit -n ${descriptors} && exec "$0" "$@"`, binary],
    });
    using wire = await daemon.connect();
    const shells = () => listProcesses().filter(({ ppid }) => ppid === daemon.pid).length;
    const sessions: string[] = [];
    for (let i = 0; i < shellsMax + 20; i++)
      sessions.push((await wire.call("session.create", { shell: "/bin/bash" })).session_id);
    await until("the shells ahead", () => shells() === shellsMax);
    // The last ones have none, and get one by being used; those that rest give theirs back.
    for (const session_id of sessions.slice(-20)) {
      await wire.call("exec.run", { session_id, command: "x=kept" });
      const { stdout } = await wire.call("exec.run", { session_id, command: 'echo "$x"' });
      expect(stdout).toBe("kept\n");
    }
    await until("no more than there may be", () => shells() === shellsMax);
    const { stdout } = await wire.call("exec.run", { session_id: sessions[0]!, command: "echo still here" });
    expect(stdout).toBe("still here\n");
  },
);
