// No processes left, or no memory: a session that takes all there is harms neither the daemon nor the others in it.
import { expect } from "bun:test";
import { chownSync, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withoutThreads } from "../../../src/util/engine-settings.ts";
import { startHere } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { crowdedUid, runAs } from "../../support/other-user.ts";
import { binary } from "../../support/program.ts";
import { failToStartShell, newSession } from "../../support/session.ts";
import { cpuShare, idleShareMax } from "../../support/starved.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { until } from "../../support/wait.ts";

/** A user's own limit holds for all that this user runs: it is nobody else's. */
const uid = crowdedUid;

needs("other users").test(
  "a command that forks without end leaves the daemon, and others, alive",
  async () => {
    // As trl's launchers start it, and as the daemon's warning says.
    const program = ["prlimit", "--nproc=60:60", binary];
    await using daemon = await startHere({ uid, program, env: withoutThreads });
    using wire = await daemon.connect();
    const greedy = await newSession(wire);
    const modest = await newSession(wire);
    await modest.run("true"); // its next shell is there already
    const bomb = { session_id: greedy.id, command: "while :; do sleep 1000 & done", timeout_s: 0 };
    const { stream_id } = await wire.call("exec.stream", bomb);
    await until("the system to refuse", () => wire.frames.some(({ data }) => String(data).includes("fork")));

    // Each of these makes the engine work, and would have it start a thread.
    for (let count = 0; count < 20; count++) await wire.call("system.describe", {});
    const refused = await failToStartShell(wire);
    expect(refused.code).toBe("SPAWN_FAILED");
    expect(refused.message).toContain("EAGAIN");
    expect((await wire.fail("pty.create", { command: "true" })).code).toBe("SPAWN_FAILED");
    expect(await cpuShare(daemon.pid)).toBeLessThan(idleShareMax);

    await wire.call("session.destroy", { session_id: greedy.id, force: true });
    const exit = await wire.frame((frame) => frame["stream_id"] === stream_id && frame["type"] === "exit");
    expect(exit["reason"]).toBe("cancelled");
    expect(await modest.out("x=1; /bin/echo back")).toBe("back");
    await newSession(wire);
    expect(daemon.log()).not.toContain("internal error");
  },
);

needs("other users").test("a daemon that was started without the settings for that warns", async () => {
  const program = ["prlimit", "--nproc=200:200", binary];
  const warning = "set=BUN_JSC_useConcurrentJIT=0 BUN_JSC_numberOfGCMarkers=1";
  {
    await using daemon = await startHere({ uid, program });
    expect(daemon.log()).toContain("few processes are allowed");
    expect(daemon.log()).toContain(warning);
  }
  await using daemon = await startHere({ uid, program, env: withoutThreads });
  expect(daemon.log()).not.toContain("few processes are allowed");
});

needs("other users").test("where processes are few, trl starts its daemons with them", async () => {
  using dir = tempDir();
  chownSync(dir.path, uid, uid);
  const env = { TMPDIR: dir.path, TRL_RUNTIME_DIR: dir.path, TRL_SOCKET_PATH: join(dir.path, "trl.sock") };
  const limited = (...words: string[]) => runAs(uid, ["prlimit", "--nproc=200:200", binary, ...words], env);
  const settings = "^BUN_JSC_(useConcurrentJIT=0|numberOfGCMarkers=1)$";
  const look = `tr '\\0' '\\n' </proc/\${TRL_DAEMON%%:*}/environ | grep -cE '${settings}'; env | grep -c BUN_JSC`;
  expect(limited("run", "--", "sh", "-c", look)).toMatchObject({ out: "2\n0\n" });

  expect(limited("new").code).toBe(0);
  const { pid } = JSON.parse(limited("stats", "--json").out);
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    expect(environment.filter((entry) => new RegExp(settings).test(entry))).toHaveLength(2);
  } finally {
    process.kill(pid, "SIGTERM");
    await until("the daemon to end", () => !existsSync(`/proc/${pid}`));
  }
});

/** A control group with that limit, of version 1 or 2. */
function memoryGroup(bytes: number): { path: string } & Disposable {
  const isVersion1 = existsSync("/sys/fs/cgroup/memory");
  const path = `/sys/fs/cgroup/${isVersion1 ? "memory/" : ""}trl-test-${process.pid}`;
  mkdirSync(path);
  writeFileSync(`${path}/${isVersion1 ? "memory.limit_in_bytes" : "memory.max"}`, String(bytes));
  return { path, [Symbol.dispose]: () => rmdirSync(path) };
}

needs("limits").test("where memory is short, commands end and not the daemon", async () => {
  using group = memoryGroup(400 * 1024 * 1024);
  const enter = ["sh", "-c", `echo $$ >${group.path}/cgroup.procs; exec "$@"`, "sh", binary];
  {
    await using daemon = await startHere({ program: enter });
    using wire = await daemon.connect();
    const session = await newSession(wire);
    // Each of them is smaller than the daemon, which would be the kernel's first choice.
    const small = "tail -c 30000000 <(head -c 30000000 /dev/zero; exec sleep 60)";
    const { stdout } = await session.run(`for n in $(seq 16); do ${small} & done; wait -n; echo $?`);
    expect(stdout).toBe("137\n");
    const much = { session_id: session.id, command: "echo", max_output_bytes: 64 * 1024 * 1024 };
    const refused = await wire.fail("exec.run", much);
    expect(refused.code).toBe("RESOURCE_PRESSURE");
    expect(refused.message).toStartWith("max_output_bytes: ");
    await wire.call("session.destroy", { session_id: session.id });
    const next = await newSession(wire);
    const flood = await next.run("head -c 100000000 /dev/zero | tr '\\0' y");
    expect(flood.stdout_bytes).toBe(100_000_000);
    expect(flood.truncated).toBe(true);
  }
  await until("the group to be empty", () => readFileSync(`${group.path}/cgroup.procs`, "utf8") === "");
});
