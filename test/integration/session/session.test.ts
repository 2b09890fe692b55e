// session.*: creation, what is told about a session, limits, cleanup.
import { describe, expect, test } from "bun:test";
import { startDaemon } from "../../support/daemon.ts";
import { isAlive } from "../../support/processes.ts";
import { newSession } from "../../support/session.ts";
import { testExceptOver, testOnce, times } from "../../support/transport.ts";
import { until } from "../../support/wait.ts";

describe("session.create", () => {
  test("replies as the contract says", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const created = await wire.call("session.create", {
      name: "build",
      working_dir: "/usr",
      env: { A: "1" },
    });
    expect(created).toMatchObject({
      state: "idle",
      working_dir: "/usr",
      name: "build",
      timeout_s: 60,
      stateful: true,
    });
    expect(created.session_id).toMatch(/^s-[0-9a-f]{8}$/);
    expect(created.shell).toEndWith("/bash");
    expect(created.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect((await wire.call("session.create", {})).working_dir).toBe("/tmp");
  });

  test("keeps every variable, whatever its name", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const env = JSON.parse('{"__proto__":"one","constructor":"two","toString":"three"}');
    const names = "__proto__ constructor toString";
    const command = `for name in ${names}; do printenv $name; done`;
    for (const stateful of [true, false]) {
      const session = await newSession(wire, { env, stateful });
      expect(await session.out(command)).toBe("one\ntwo\nthree");
      const { env_keys } = await wire.call("session.info", { session_id: session.id });
      expect(env_keys).toEqual(expect.arrayContaining(names.split(" ")));
    }
  });

  test("takes null for what is not given", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const reply = await wire.request("session.create", {
      shell: null,
      name: null,
      env: null,
      timeout_s: null,
    });
    expect(reply["ok"]).toBe(true);
  });

  test("refuses a shell or directory that does not exist, and what is not here", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const codeOf = async (params: unknown) => (await wire.fail("session.create", params)).code;
    expect(await codeOf({ shell: "/no/such/shell" })).toBe("INVALID_PARAMS");
    expect(await codeOf({ shell: "nosuchshell" })).toBe("INVALID_PARAMS");
    expect(await codeOf({ shell: "/tmp" })).toBe("INVALID_PARAMS");
    expect(await codeOf({ working_dir: "/no/such/dir" })).toBe("INVALID_PARAMS");
    expect(await codeOf({ working_dir: "relative" })).toBe("INVALID_PARAMS");
    expect(await codeOf({ env: { "A=B": "1" } })).toBe("INVALID_PARAMS");
    expect(await codeOf({ env: { A: "nul\0byte" } })).toBe("INVALID_PARAMS");
    expect(await codeOf({ timeout_s: -1 })).toBe("INVALID_PARAMS");
    expect(await codeOf({ stateful: true, isolation: { root: "/" } })).toBe("UNSUPPORTED");
    expect(await codeOf({ isolation: { rooot: "/" } })).toBe("INVALID_PARAMS");
    expect(await codeOf({ runtime: "gpu" })).toBe("RUNTIME_NOT_FOUND");
    expect((await wire.call("session.list", {})).sessions).toEqual([]);
  });

  test("runs init before the first command", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const created = await wire.call("session.create", { init: "cd /usr; ready=yes; echo set up" });
    expect(created).toMatchObject({
      working_dir: "/usr",
      state: "idle",
      init: { exit_code: 0, stdout: "set up\n" },
    });
    const result = await wire.call("exec.run", {
      session_id: created.session_id,
      command: "echo $ready; pwd",
    });
    expect(result.stdout).toBe("yes\n/usr\n");
    const info = await wire.call("session.info", { session_id: created.session_id });
    expect(info.command_count).toBe(1);
  });

  test("takes the daemon's --shell and --default-timeout-s", async () => {
    await using daemon = await startDaemon({ flags: ["--shell", "/bin/dash", "--default-timeout-s", "0.3"] });
    using wire = await daemon.connect();
    const session = await newSession(wire);
    expect(await session.out("echo $0")).toBe("dash");
    const error = await wire.fail("exec.run", { session_id: session.id, command: "sleep 10" });
    expect(error.code).toBe("COMMAND_TIMEOUT");
  });
});

describe("what is told about a session", () => {
  test("follows it, and holds names but never values", async () => {
    await using daemon = await startDaemon({ flags: ["--verbose"] });
    using wire = await daemon.connect();
    const session = await newSession(wire, { env: { API_KEY: "hunter2" } });
    await session.run("cd /usr; export LATER=hunter3", { env: { ONCE: "hunter4" }, stdin: "hunter5" });
    const info = await wire.call("session.info", { session_id: session.id });
    expect(info).toMatchObject({
      working_dir: "/usr",
      command_count: 1,
      kind: "exec",
      stateful: true,
      state: "idle",
    });
    expect(info.env_keys).toEqual(expect.arrayContaining(["API_KEY", "LATER", "PATH"]));
    expect(info.env_keys).not.toContain("ONCE");
    const { sessions } = await wire.call("session.list", {});
    expect(sessions.map((listed) => listed.session_id)).toEqual([session.id]);
    expect(`${wire.rawLines.join()}${daemon.log()}`).not.toContain("hunter");
  });

  testExceptOver(["http", "runtime"], "they are of the connection's own daemon")(
    "is counted in the stats",
    async () => {
      await using daemon = await startDaemon();
      using wire = await daemon.connect();
      const session = await newSession(wire);
      await session.run("true");
      await session.run("false");
      const running = session.run("sleep 0.3");
      expect(await wire.call("system.stats", {})).toMatchObject({
        active_sessions: 1,
        total_commands_run: 3,
        running_commands: 1,
        connections: 1,
      });
      await running;
      await wire.call("session.destroy", { session_id: session.id });
      const stats = await wire.call("system.stats", {});
      expect(stats).toMatchObject({ active_sessions: 0, total_commands_run: 3, running_commands: 0 });
      expect(stats.open_fds).toBeGreaterThan(3);
      expect(stats.memory_rss_bytes).toBeGreaterThan(1e7);
    },
  );
});

describe("limits", () => {
  test("on sessions and on commands per session", async () => {
    await using daemon = await startDaemon({ flags: ["--max-sessions", "2", "--session-max-commands", "2"] });
    using wire = await daemon.connect();
    const first = await newSession(wire);
    await newSession(wire);
    expect((await wire.fail("session.create", {})).code).toBe("MAX_SESSIONS_REACHED");
    await first.run("true");
    await first.run("true");
    const error = await wire.fail("exec.run", { session_id: first.id, command: "true" });
    expect(error.code).toBe("SESSION_LIMIT_EXCEEDED");
    await wire.call("session.destroy", { session_id: first.id });
    await newSession(wire);
  });

  testExceptOver(["runtime"], "they are of the machine that the daemon is on").each([
    "--fd-warning-threshold",
    "--memory-pressure-mb",
  ])("of %s refuse new sessions only", async (flag) => {
    await using calm = await startDaemon({ flags: [flag, "5000"] });
    using calmWire = await calm.connect();
    await newSession(calmWire);
    await using daemon = await startDaemon({ flags: [flag, "1"] });
    using wire = await daemon.connect();
    expect((await wire.fail("session.create", {})).code).toBe("RESOURCE_PRESSURE");
    expect((await wire.call("system.ping", {})).uptime_s).toBeGreaterThanOrEqual(0);
  });
});

describe("cleanup", () => {
  testOnce()("of idle sessions spares those that run, and takes their processes", async () => {
    await using daemon = await startDaemon({ flags: ["--max-idle-sec", "1"] });
    using wire = await daemon.connect();
    const kept = await newSession(wire, { idle_timeout_s: 0 });
    const busy = await newSession(wire, { idle_timeout_s: 2 });
    const running = busy.run("sleep 3; echo done");
    // Its process is there before it is idle for the first time.
    const init = "sleep 1000 >/dev/null 2>&1 & echo $!";
    const idle = await wire.call("session.create", { init });
    await until("the idle session to be gone", async () => {
      const { sessions } = await wire.call("session.list", {});
      return !sessions.some(({ session_id }) => session_id === idle.session_id);
    });
    expect(isAlive(Number(idle.init!.stdout))).toBe(false);
    expect((await running).stdout).toBe("done\n");
    expect(await kept.out("echo here")).toBe("here");
  });

  testOnce()("of sessions that are too old", async () => {
    await using daemon = await startDaemon({ flags: ["--session-ttl-sec", "1"] });
    using wire = await daemon.connect();
    await newSession(wire);
    await until(
      "the old session to be gone",
      async () => (await wire.call("session.list", {})).sessions.length === 0,
    );
  });
});

test("many sessions and commands leave no descriptor, file or memory behind", async () => {
  await using daemon = await startDaemon();
  using wire = await daemon.connect();
  const round = async () => {
    const sessions = await Promise.all(Array.from({ length: 10 }, () => newSession(wire)));
    for (let i = 0; i < 5; i++) await Promise.all(sessions.map(({ run }) => run("x=$RANDOM; echo $x | cat")));
    await Promise.all(sessions.map(({ id }) => wire.call("session.destroy", { session_id: id })));
  };
  await round();
  const before = await wire.call("system.stats", {});
  for (let i = 0; i < times(8, 3); i++) await round();
  // A descriptor may be closed a moment after the reply.
  const after = await until("the descriptors to be closed", async () => {
    const stats = await wire.call("system.stats", {});
    return stats.open_fds <= before.open_fds + 2 ? stats : undefined;
  });
  expect((after.memory_rss_bytes - before.memory_rss_bytes) / 1024 / 1024).toBeLessThan(48);
  const left = [...new Bun.Glob(`trl-${daemon.pid}-*/*`).scanSync({ cwd: "/dev/shm", onlyFiles: false })];
  expect(left).toEqual([]);
});
